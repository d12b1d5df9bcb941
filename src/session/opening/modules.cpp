#include "session/opening/modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/paths.hpp"
#include "config/options/document.hpp"
#include "config/options/names.hpp"
#include "config/tasks/plugin_loader.hpp"
#include "config/tasks/tasks.hpp"
#include "session/c/c_analysis.hpp"
#include "sidestream/kit/base/fail.hpp"

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

/// The tasks of unknown kind.
std::vector<WrittenTask> unknown_tasks(const Document& document, const Registry& registry) {
  std::vector<WrittenTask> tasks = written_tasks(document);
  std::erase_if(tasks, [&](const WrittenTask& task) {
    return registry.analyses().contains(task.kind) || registry.writers().contains(task.kind);
  });
  return tasks;
}

template <class Kinds>
void add_absent(const Kinds& from, const Kinds& there, Registry& to) {
  for (const auto& [name, kind] : from) {
    if (!there.contains(name)) to.add(kind);
  }
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

void add_modules(const std::vector<std::string>& files, Registry& registry) {
  for (const std::string& file : files) {
    Registry theirs;
    load_plugin(file, {}, theirs, register_c_plugin);
    add_absent(theirs.analyses(), registry.analyses(), registry);
    add_absent(theirs.writers(), registry.writers(), registry);
    add_absent(theirs.formats(), registry.formats(), registry);
    add_absent(theirs.partitioners(), registry.partitioners(), registry);
    add_absent(*theirs.codecs(), *registry.codecs(), registry);
  }
}

ModuleFiles load_plugins(const OpeningConfig& opening, const Document& document, const std::string& base,
                         Registry& registry) {
  for (const auto& [path, where] : opening.plugins) load_plugin(path, where, registry, register_c_plugin);
  return unknown_tasks(document, registry).empty() ? ModuleFiles{} : find_modules(base);
}

void add_needed_modules(const ModuleFiles& modules, const Document& document, Registry& registry) {
  if (unknown_tasks(document, registry).empty()) return;
  add_modules(modules.files, registry);
  for (const WrittenTask& task : unknown_tasks(document, registry)) {
    for (const ModuleKind& known : module_kinds()) {
      if (task.kind != known.kind) continue;
      fail_at(task.where,
              "found '{}', which the module sidestream_{} has, and found no such module in {}; install it beside the "
              "library, or build Sidestream with {}=ON",
              known.kind, known.module, listed(modules.folders), known.option);
    }
  }
}

}  // namespace sidestream
