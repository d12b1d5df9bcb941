// Finding and loading plug-ins.
//
// 1. find_modules: the folder of SIDESTREAM_MODULES, or the first of several places near the library or program.
// 2. load_plugin: loads the library, and checks magic, version, layout and the hash of the interface before any of its
//    functions runs. Whatever they throw becomes an Error(configuration).
// Libraries are never unloaded, since objects of their types may remain.
#include "config/tasks/module_files.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "base/paths.hpp"
#include "config/options/document.hpp"
#include "sidestream/extend/plugin.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

bool is_module(const std::string& name) { return name.starts_with("sidestream_") && name.ends_with(".so"); }

/// Places of the folder of modules, from that of the library or of the program.
constexpr const char* folders_from_own[] = {
    "sidestream/modules",              // of an installed library
    "modules",                         // of the library of a build, or in a package for Python
    "{libraries}/sidestream/modules",  // of an installed program
    "../src/modules",                  // of a program of a build
    "../../src/modules",               // of a test of a build
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

namespace {

const PluginHeader& checked_header(const PluginHeader* header, const std::string& path, const Location& where) {
  if (header == nullptr || header->magic != plugin_magic) {
    fail_at(where,
            "found '{}', whose sidestream_plugin() does not return a plug-in header; define it with "
            "SIDESTREAM_PLUGIN",
            path);
  }
  if (header->version != plugin_version) {
    fail_at(where,
            "found the plug-in '{}' for version {} of the plug-in interface, expected version {}; build it again "
            "with the headers of Sidestream {}",
            path, header->version, plugin_version, SIDESTREAM_VERSION);
  }
  if (header->layout != plugin_layout()) {
    fail_at(where,
            "found the plug-in '{}' with the data layout {:08x}, expected {:08x}; build it again with the "
            "headers "
            "of Sidestream {} and the same compiler",
            path, header->layout, plugin_layout(), SIDESTREAM_VERSION);
  }
  if (header->interface != interface_hash) {
    fail_at(where,
            "found the plug-in '{}' for the interface {:016x}, expected {:016x}: it was built with headers that differ "
            "from those of this library; build it again with the headers of this build of Sidestream {}",
            path, header->interface, interface_hash, SIDESTREAM_VERSION);
  }
  return *header;
}

}  // namespace

void load_plugin(const std::string& path, const Location& where, Registry& registry, const CPluginReader& c_plugin) {
  // Without a '/' dlopen would search the system's libraries instead of the working directory.
  const std::string name = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    fail_at(where, "found the plug-in '{}', which cannot be loaded ({}); check the path and what it links to", path,
            reason ? reason : "no reason given");
  }
  using EntryPoint = const PluginHeader* (*)();
  const auto entry = reinterpret_cast<EntryPoint>(dlsym(library, "sidestream_plugin"));
  using CEntryPoint = const void* (*)();
  const auto c_entry = reinterpret_cast<CEntryPoint>(dlsym(library, "sidestream_c_plugin"));
  if (entry == nullptr && (c_entry == nullptr || !c_plugin)) {
    fail_at(
        where,
        "found the library '{}', which has no function sidestream_plugin; define it with SIDESTREAM_PLUGIN (C++) or "
        "SIDESTREAM_C_PLUGIN (C)",
        path);
  }
  // The plug-in's functions may throw anything: C++ exceptions through C tables, and other types than std::exception.
  const auto guarded = [&](auto&& call) {
    std::string problem = "it threw something that is no std::exception";
    try {
      return call();
    } catch (const std::exception& error) {
      problem = error.what();
    } catch (...) {
    }
    fail_at(where, "found the plug-in '{}', which could not register itself: {}", path, problem);
  };
  if (entry != nullptr) {
    const PluginHeader& header = checked_header(guarded([&] { return entry(); }), path, where);
    guarded([&] { header.register_kinds(registry); });
  }
  if (c_entry != nullptr && c_plugin) guarded([&] { c_plugin(c_entry(), registry); });
}

}  // namespace sidestream
