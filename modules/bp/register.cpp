#include "bp/bp_options.hpp"
#include "sidestream/extend/plugin.hpp"

SIDESTREAM_PLUGIN(registry) { registry.add(sidestream::bp_writer()); }
