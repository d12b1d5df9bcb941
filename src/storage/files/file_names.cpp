#include "sidestream/kit/storage/files/file_names.hpp"

#include <fmt/format.h>
#include <filesystem>

#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace fs = std::filesystem;

std::string with_version(const std::string& path, int version) {
  const fs::path whole(path);
  const std::string name = fmt::format("{}-v{}{}", whole.stem().string(), version, whole.extension().string());
  return (whole.parent_path() / name).string();
}

std::string free_version(const std::string& path) {
  int version = 1;
  while (fs::exists(fs::symlink_status(with_version(path, version)))) ++version;
  return with_version(path, version);
}

std::string hidden_beside(const std::string& path, const std::string& ending) {
  const fs::path whole(path);
  return (whole.parent_path() / fmt::format(".{}{}", whole.filename().string(), ending)).string();
}

void keep_earlier(const std::string& path) {
  if (!fs::is_regular_file(fs::symlink_status(path))) return;
  const std::string kept = free_version(path);
  std::error_code error;
  fs::create_hard_link(path, kept, error);
  if (error) copy_file(path, kept);  // file systems without hard links
  log::info("'{}', which an earlier run left, is kept as '{}'", path, kept);
}

bool FileNames::is_taken(const std::string& path) const {
  if (written_.contains(std::hash<std::string>{}(path))) return true;
  std::error_code ignored;
  return directory_->resumes() && fs::exists(fs::symlink_status(path, ignored));
}

std::string FileNames::choose(const std::string& pattern, const Iteration& iteration) {
  const std::string first = directory_->path(pattern, iteration, 0);
  std::string path = first;
  for (int version = 2; is_taken(path); ++version) path = with_version(first, version);
  return path;
}

void FileNames::written(const std::string& path) {
  retry_while_out_of_memory([&] { written_.insert(std::hash<std::string>{}(path)); });
}

namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : escaped_utf8(text)) {
    if (is_control(c)) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string literal_text(std::string_view text, int key_column, int indent) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::string margin(static_cast<std::size_t>(key_column + indent), ' ');
  std::string result = fmt::format("|{}\n{}", indent, margin);
  for (const char c : escaped_utf8(text)) {
    if (c == '\n') {
      result += '\n' + margin;
    } else if (c == '\t' || !is_control(c)) {
      result += c;
    }
  }
  return result + '\n';
}

}  // namespace sidestream
