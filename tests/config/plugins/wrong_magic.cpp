// A plug-in built with another magic number.
#include "sidestream/extend/plugin.hpp"

namespace sidestream {
namespace {
void ignore(Registry&) {}
const PluginHeader header{plugin_magic + 1, plugin_version, plugin_layout(), interface_hash, &ignore};
}  // namespace
}  // namespace sidestream

extern "C" __attribute__((visibility("default"))) const sidestream::PluginHeader* sidestream_plugin() {
  return &sidestream::header;
}
