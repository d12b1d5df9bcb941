#include "config/tasks/plugin_loader.hpp"

#include <dlfcn.h>

#include <exception>

#include "config/options/document.hpp"
#include "sidestream/extend/plugin.hpp"

namespace sidestream {

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
