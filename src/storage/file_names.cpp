#include "storage/file_names.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/persist.hpp"

namespace sidestream {

namespace fs = std::filesystem;

std::string with_version(const std::string& path, int version) {
  const fs::path whole(path);
  const std::string name = fmt::format("{}-v{}{}", whole.stem().string(), version, whole.extension().string());
  return (whole.parent_path() / name).string();
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
  persist([&] { written_.insert(std::hash<std::string>{}(path)); });
}

}  // namespace sidestream
