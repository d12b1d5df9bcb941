// A plug-in that must be refused; FAULT is the reason.
#include <sidestream/extend/plugin.hpp>

#define WRONG_VERSION 1
#define WRONG_LAYOUT 2
#define WRONG_MAGIC 3
#define THROWS 4

using namespace sidestream;

static void register_kinds([[maybe_unused]] Registry& registry) {
#if FAULT == THROWS
  throw Error(Code::usage, "this plug-in wants something else");
#endif
}

extern "C" const PluginHeader* sidestream_plugin() {
  static const PluginHeader header{plugin_magic + (FAULT == WRONG_MAGIC), plugin_version + (FAULT == WRONG_VERSION),
                                   plugin_layout() ^ (FAULT == WRONG_LAYOUT), interface_hash, &register_kinds};
  return &header;
}
