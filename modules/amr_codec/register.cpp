#include "amr_codec/values/value_coder.hpp"
#include "sidestream/extend/plugin.hpp"

SIDESTREAM_PLUGIN(registry) { registry.add(sidestream::tree_codec_kind()); }
