// The codec `tree` as the library sees it.
#pragma once

#include "sidestream/extend/tree_codec.hpp"

namespace sidestream {

[[nodiscard]] CodecKind tree_codec_kind();

}  // namespace sidestream
