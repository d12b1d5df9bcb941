#include "transport/staging/folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/fail.hpp"
#include "transport/staging/posix_file.hpp"

namespace sidestream::staging {

namespace fs = std::filesystem;

void Folder::prepare() const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error || ::access(path_.c_str(), W_OK | X_OK) != 0) {
    fail(Code::file,
         "cannot write into the stream's directory '{}' ({}); make it writable or name another with 'directory'", path_,
         error ? error.message() : std::strerror(errno));
  }
}

std::string Folder::path(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

std::string Folder::part(std::string_view name) const { return fmt::format("{}/.{}.part", path_, name); }

void Folder::put(std::string_view name, BytesView content) const {
  const std::string written = part(name);
  try {
    PosixFile file = PosixFile::create(written);
    file.write(content);
    file.flush();
    rename_file(written, path(name));
  } catch (...) {
    ::unlink(written.c_str());
    throw;
  }
}

void Folder::put(std::string_view name, std::string_view text) const { put(name, std::as_bytes(std::span(text))); }

bool Folder::put_new(std::string_view name, std::string_view text) const {
  const std::string written = fmt::format("{}.{}", part(name), ::getpid());
  PosixFile file = PosixFile::create(written);
  file.write(std::as_bytes(std::span(text)));
  file.flush();
  // A link fails if the name is taken, on network file systems too; a rename would replace the other's file.
  const bool made = ::link(written.c_str(), path(name).c_str()) == 0;
  const int error = errno;
  ::unlink(written.c_str());
  if (!made && error != EEXIST) fail_file("name the file", path(name), error);
  return made;
}

std::optional<Bytes> Folder::get(std::string_view name) const {
  std::optional<PosixFile> file = PosixFile::open(path(name));
  if (!file) return std::nullopt;
  Bytes content(file->size());
  file->read(content, 0);
  return content;
}

std::optional<std::string> Folder::text(std::string_view name) const {
  const std::optional<Bytes> content = get(name);
  if (!content) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(content->data()), content->size());
}

bool Folder::rename(std::string_view from, std::string_view to) const {
  if (::rename(path(from).c_str(), path(to).c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  fail_file("rename", path(from), errno);
}

void Folder::remove(std::string_view name) const noexcept {
  try {
    ::unlink(path(name).c_str());
  } catch (...) {  // no memory for the name: the file stays, and the next run removes it
  }
}

std::vector<std::int64_t> Folder::numbers(std::string_view prefix) const {
  std::vector<std::int64_t> found;
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::int64_t number = 0;
    const char* last = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(name.data() + prefix.size(), last, number);
    if (problem == std::errc() && stop == last) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void Folder::clear(const std::vector<std::string>& prefixes) const {
  std::error_code error;
  std::vector<fs::path> doomed;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const auto begins = [&](const std::string& prefix) { return name.starts_with(prefix); };
    if (std::any_of(prefixes.begin(), prefixes.end(), begins)) doomed.push_back(it->path());
  }
  for (const fs::path& file : doomed) fs::remove(file, error);
}

std::string line_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key) || !line.substr(key.size()).starts_with(": ")) continue;
    return std::string(line.substr(key.size() + 2));
  }
  return {};
}

}  // namespace sidestream::staging
