#include "bounded_codec/bounded.hpp"
#include "sidestream/extend/plugin.hpp"

SIDESTREAM_PLUGIN(registry) { registry.add(sidestream::bounded::bounded_codec()); }
