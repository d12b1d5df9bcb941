#include "amr_codec/tree_codec.hpp"
#include "sidestream/extend/plugin.hpp"

SIDESTREAM_PLUGIN(registry) { registry.add(sidestream::tree_codec_kind()); }
