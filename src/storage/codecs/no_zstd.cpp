#include "storage/codecs/codecs.hpp"

namespace sidestream {

const Codec* zstd_codec() { return nullptr; }

}  // namespace sidestream
