#include "base/paths.hpp"

#include <filesystem>

namespace sidestream {

namespace fs = std::filesystem;

std::string working_directory() {
  std::error_code gone;
  return fs::current_path(gone).string();
}

std::string path_from(const std::string& folder, const std::string& path) {
  if (path.empty() || folder.empty() || fs::path(path).is_absolute()) return path;
  fs::path whole(folder);
  for (const fs::path& part : fs::path(path)) {
    if (part != ".") whole /= part;
  }
  return whole.string();
}

}  // namespace sidestream
