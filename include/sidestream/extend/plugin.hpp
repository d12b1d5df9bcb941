// Analyses, writers and formats in a shared library of their own, named under `plugins:` in the configuration.
#pragma once

#include <cstdint>

#include "sidestream/extend/registry.hpp"
#include "sidestream/version.h"

namespace sidestream {

/// Returned by a plug-in's entry point. Checked before anything else of the plug-in is used.
struct PluginHeader {
  std::uint64_t magic;    ///< plugin_magic
  std::uint32_t version;  ///< plugin_version the plug-in was built with
  std::uint32_t layout;   ///< plugin_layout() of the headers it was built with
  void (*register_kinds)(Registry&);
};

inline constexpr std::uint64_t plugin_magic = 0x4e494755'4c504453;  // "SDPLUGIN"
inline constexpr std::uint32_t plugin_version = 1;

/// Differs when the structures that cross the boundary differ in size.
constexpr std::uint32_t plugin_layout() {
  std::uint32_t hash = 2166136261u;
  for (std::size_t size : {sizeof(ArrayView), sizeof(BlockView), sizeof(LocalInput), sizeof(CombineInput),
                           sizeof(Option), sizeof(Settings), sizeof(Variable), sizeof(Mesh), sizeof(Registry)}) {
    hash = (hash ^ static_cast<std::uint32_t>(size)) * 16777619u;
  }
  return hash;
}

}  // namespace sidestream

/// Defines the entry point of a plug-in: `SIDESTREAM_PLUGIN(registry) { registry.add(...); }`
#define SIDESTREAM_PLUGIN(registry)                                                                             \
  static void sidestream_plugin_register(::sidestream::Registry& registry);                                     \
  extern "C" __attribute__((visibility("default"))) const ::sidestream::PluginHeader* sidestream_plugin() {     \
    static const ::sidestream::PluginHeader header{::sidestream::plugin_magic, ::sidestream::plugin_version,    \
                                                   ::sidestream::plugin_layout(), &sidestream_plugin_register}; \
    return &header;                                                                                             \
  }                                                                                                             \
  static void sidestream_plugin_register(::sidestream::Registry& registry)
