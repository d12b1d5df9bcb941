// Analyses, writers and formats in a separate shared library, named under `plugins:` in the configuration.
#pragma once

#include <cstdint>

#include "sidestream/extend/interface.hpp"
#include "sidestream/extend/registry.hpp"
#include "sidestream/version.h"

namespace sidestream {

/// Returned by a plug-in's entry point. Checked before anything else of the plug-in is used.
struct PluginHeader {
  std::uint64_t magic;      ///< plugin_magic
  std::uint32_t version;    ///< plugin_version the plug-in was built with
  std::uint32_t layout;     ///< plugin_layout() of the compiler and the library it was built with
  std::uint64_t interface;  ///< interface_hash of the headers it was built with
  void (*register_kinds)(Registry&);
};

inline constexpr std::uint64_t plugin_magic = 0x4e494755'4c504453;  // "SDPLUGIN"
inline constexpr std::uint32_t plugin_version = 2;

/// Hash of the headers' meaning to a compiler. It differs when structures that cross the boundary differ in size or
/// alignment, or the standard library has another ABI. Everything else (members, enumerators, the order of virtual
/// functions) is in `interface_hash`, which is made from the text of all headers that plug-ins see.
constexpr std::uint32_t plugin_layout() {
  std::uint32_t hash = 2166136261u;
  const auto add = [&](std::size_t value) { hash = (hash ^ static_cast<std::uint32_t>(value)) * 16777619u; };
  for (const std::size_t value :
       {sizeof(ArrayView), sizeof(BlockView), sizeof(LocalInput), sizeof(CombineInput), sizeof(Option),
        sizeof(Settings), sizeof(Selection), sizeof(Table), sizeof(Plan), sizeof(Variable), sizeof(Mesh),
        sizeof(Registry), sizeof(std::string), sizeof(std::function<void()>), alignof(std::max_align_t)}) {
    add(value);
  }
#ifdef _GLIBCXX_USE_CXX11_ABI
  add(_GLIBCXX_USE_CXX11_ABI);
#endif
#ifdef _LIBCPP_ABI_VERSION
  add(0x100 + _LIBCPP_ABI_VERSION);
#endif
  return hash;
}

}  // namespace sidestream

/// Defines the entry point of a plug-in: `SIDESTREAM_PLUGIN(registry) { registry.add(...); }`
#define SIDESTREAM_PLUGIN(registry)                                                                             \
  static void sidestream_plugin_register(::sidestream::Registry& registry);                                     \
  extern "C" __attribute__((visibility("default"))) const ::sidestream::PluginHeader* sidestream_plugin() {     \
    static const ::sidestream::PluginHeader header{::sidestream::plugin_magic, ::sidestream::plugin_version,    \
                                                   ::sidestream::plugin_layout(), ::sidestream::interface_hash, \
                                                   &sidestream_plugin_register};                                \
    return &header;                                                                                             \
  }                                                                                                             \
  static void sidestream_plugin_register(::sidestream::Registry& registry)
