#include "base/python_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/paths.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string python_package_folder() {
  constexpr const char* places[] = {"sidestream/python", "../bindings/python",
                                    SIDESTREAM_LIBRARIES_FROM_PROGRAMS "/sidestream/python", "..", "../.."};
  for (const fs::path& place : places_from_own(places)) {
    std::error_code ignored;
    if (fs::is_regular_file(place / "sidestream" / "command.py", ignored)) return place.string();
  }
  return {};
}

std::string python_interpreter() {
  const std::string named = variable("SIDESTREAM_PYTHON"), environment = variable("VIRTUAL_ENV");
  if (!named.empty()) return named;
  if (!environment.empty()) return environment + "/bin/python";
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
