#include "base/own_folders.hpp"

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>

namespace sidestream {

namespace fs = std::filesystem;

namespace {

/// The file that `address` was loaded from, as the kernel knows it. The dynamic linker knows the name by which it was
/// loaded, which may be relative to a working directory that the program has left.
fs::path file_at(std::uintptr_t address) {
  std::ifstream mappings("/proc/self/maps");
  for (std::string line; std::getline(mappings, line);) {
    std::uintptr_t begin = 0, end = 0;
    const char* const last = line.data() + line.size();
    const auto first = std::from_chars(line.data(), last, begin, 16);
    if (first.ec != std::errc() || first.ptr == last || *first.ptr != '-') continue;
    const auto second = std::from_chars(first.ptr + 1, last, end, 16);
    if (second.ec != std::errc() || address < begin || address >= end) continue;
    const std::size_t name = line.find('/');
    return name == std::string::npos ? fs::path() : fs::path(line.substr(name));
  }
  return {};
}

}  // namespace

std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  std::error_code ignored;
  const fs::path library = file_at(reinterpret_cast<std::uintptr_t>(&own_folders));
  if (!library.empty()) folders.push_back(library.parent_path());
  folders.push_back(fs::read_symlink("/proc/self/exe", ignored).parent_path());
  return folders;
}

}  // namespace sidestream
