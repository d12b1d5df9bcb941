// The codecs that come with Sidestream, one file each.
#pragma once

#include "sidestream/extend/codec.hpp"

namespace sidestream {

[[nodiscard]] const Codec& byte_shuffle_codec();
[[nodiscard]] const Codec& bit_shuffle_codec();
[[nodiscard]] const Codec& gzip_codec();
[[nodiscard]] const Codec* zstd_codec();  ///< null: built without zstd
[[nodiscard]] const Codec& half_codec();
[[nodiscard]] const Codec& quantise_codec(int bytes);  ///< 1, 2 or 4

}  // namespace sidestream
