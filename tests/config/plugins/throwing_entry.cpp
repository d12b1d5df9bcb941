// A plug-in whose entry point throws something that is not an exception.
#include "sidestream/extend/plugin.hpp"

extern "C" __attribute__((visibility("default"))) const sidestream::PluginHeader* sidestream_plugin() { throw 7; }
