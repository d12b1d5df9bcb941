#include "base/own_folders.hpp"

#include <dlfcn.h>

namespace sidestream {

std::vector<std::filesystem::path> own_folders() {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  std::error_code ignored;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_folders), &info) != 0 && info.dli_fname) {
    folders.push_back(fs::weakly_canonical(info.dli_fname, ignored).parent_path());
  }
  folders.push_back(fs::read_symlink("/proc/self/exe", ignored).parent_path());
  return folders;
}

}  // namespace sidestream
