// A plug-in built with structures of other sizes.
#include "sidestream/extend/plugin.hpp"

namespace sidestream {
namespace {
void ignore(Registry&) {}
const PluginHeader header{plugin_magic, plugin_version, plugin_layout() + 1, interface_hash, &ignore};
}  // namespace
}  // namespace sidestream

extern "C" __attribute__((visibility("default"))) const sidestream::PluginHeader* sidestream_plugin() {
  return &sidestream::header;
}
