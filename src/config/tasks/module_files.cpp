#include "config/tasks/module_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/paths.hpp"
#include "config/tasks/plugin_loader.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

bool is_module(const std::string& name) { return name.starts_with("sidestream_") && name.ends_with(".so"); }

/// Places of the folder of modules, from that of the library or of the program.
constexpr const char* folders_from_own[] = {
    "sidestream/modules",                                      // of an installed library
    "modules",                                                 // of the library of a build, or in a package for Python
    SIDESTREAM_LIBRARIES_FROM_PROGRAMS "/sidestream/modules",  // of an installed program
    "../src/modules",                                          // of a program of a build
    "../../src/modules",                                       // of a test of a build
};

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

ModuleFiles modules_in(const fs::path& folder) {
  ModuleFiles found;
  found.folders.push_back(folder.string());
  for (const std::string& name : names_in_folder(folder.string())) {
    if (is_module(name)) found.files.push_back((folder / name).string());
  }
  std::sort(found.files.begin(), found.files.end());
  return found;
}

}  // namespace

ModuleFiles find_modules(const std::string& base) {
  if (const char* const named = std::getenv("SIDESTREAM_MODULES"); named && *named) {
    const std::string folder = path_from(base, named);
    if (is_folder(folder)) return modules_in(folder);
    fail(
        Code::configuration,
        "SIDESTREAM_MODULES names '{}', expected a folder with modules of Sidestream; correct it, or remove the variable",
        folder);
  }
  ModuleFiles none;
  for (const fs::path& place : places_from_own(folders_from_own)) {
    if (is_folder(place)) return modules_in(place);
    none.folders.push_back(place.string());
  }
  return none;
}

const ModuleKind* module_with(KindOf of, const std::string& kind) noexcept {
  for (const ModuleKind& known : module_kinds()) {
    if (of == known.of && kind == known.kind) return &known;
  }
  return nullptr;
}

bool is_module_of(const std::string& file, const ModuleKind& kind) {
  return file.ends_with(fmt::format("/sidestream_{}.so", kind.module));
}

std::string missing_module(const ModuleKind& kind, const std::vector<std::string>& folders) {
  const std::string where = folders.empty() ? "that is not loaded" : "found no such module in " + listed(folders);
  return fmt::format(
      "found '{}', which the module sidestream_{} has, and {}; install it beside the library, or build Sidestream with "
      "{}=ON",
      kind.kind, kind.module, where, kind.option);
}

std::string add_codec_of_module(const std::string& name, const std::string& base, CodecKinds& kinds) {
  const ModuleKind* const known = kinds.contains(name) ? nullptr : module_with(KindOf::codec, name);
  if (known == nullptr) return {};
  const ModuleFiles modules = find_modules(base);
  for (const std::string& file : modules.files) {
    if (!is_module_of(file, *known)) continue;
    Registry theirs;
    load_plugin(file, {}, theirs);
    for (const auto& [codec, kind] : *theirs.codecs()) kinds.emplace(codec, kind);
  }
  return kinds.contains(name) ? std::string() : missing_module(*known, modules.folders);
}

}  // namespace sidestream
