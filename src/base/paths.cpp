#include "base/paths.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace fs = std::filesystem;

std::string working_directory() {
  std::error_code unknown_folder;
  return fs::current_path(unknown_folder).string();
}

std::string path_from(const std::string& folder, const std::string& path) {
  if (path.empty() || folder.empty() || fs::path(path).is_absolute()) return path;
  fs::path whole(folder);
  for (const fs::path& part : fs::path(path)) {
    if (part != ".") whole /= part;
  }
  return whole.string();
}

namespace fs = std::filesystem;

namespace {

/// The file that `address` was loaded from, according to the kernel. The dynamic linker may only know a name relative
/// to a working directory that the program has left.
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

std::vector<fs::path> places_from_own(std::span<const char* const> relative) {
  std::vector<fs::path> places;
  for (const fs::path& own : own_folders()) {
    if (own.empty()) continue;
    for (std::string_view folder : relative) {
      fs::path from = own;
      if (constexpr std::string_view libraries = "{libraries}/"; folder.starts_with(libraries)) {
        from /= SIDESTREAM_LIBRARIES_FROM_PROGRAMS;
        folder.remove_prefix(libraries.size());
      }
      const fs::path place = (from / folder).lexically_normal();
      places.push_back(place.has_filename() ? place : place.parent_path());  // without a slash at its end
    }
  }
  return places;
}

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

[[noreturn]] void fail_to_read(const std::string& folder, int error) {
  fail(Code::system, "cannot read the folder '{}': {}", folder, system_text(error));
}

}  // namespace

std::vector<std::string> names_in_folder(const std::string& folder) {
  const std::unique_ptr<DIR, CloseFolder> open(opendir(folder.c_str()));
  if (!open) fail_to_read(folder, errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;  // The end of a folder and an error look alike.
    const dirent* const entry = readdir(open.get());
    if (!entry && errno != 0) fail_to_read(folder, errno);
    if (!entry) return names;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string python_package_folder() {
  constexpr const char* places[] = {"sidestream/python", "../bindings/python", "{libraries}/sidestream/python", "..",
                                    "../.."};
  for (const fs::path& place : places_from_own(places)) {
    std::error_code ignored;
    if (fs::is_regular_file(place / "sidestream" / "command.py", ignored)) return place.string();
  }
  return {};
}

std::string python_interpreter() {
  const std::string named = variable("SIDESTREAM_PYTHON"), environment = variable("VIRTUAL_ENV");
  // A relative path begins in the directory of now, which the program may leave before the interpreter is started.
  if (!named.empty()) return named.find('/') == named.npos ? named : path_from(working_directory(), named);
  if (!environment.empty()) return path_from(working_directory(), environment + "/bin/python");
  std::string built;
  if (std::ifstream named_by_build(python_package_folder() + "/interpreter"); named_by_build) {
    std::getline(named_by_build, built);
  }
  return !built.empty() && access(built.c_str(), X_OK) == 0 ? built : "python3";
}

std::string python_path() {
  const std::string folder = python_package_folder(), before = variable("PYTHONPATH");
  if (folder.empty() || before.empty()) return folder + before;
  return folder + ":" + before;
}

}  // namespace sidestream
