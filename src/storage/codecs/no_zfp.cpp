#include "storage/codecs/codecs.hpp"

namespace sidestream {

std::optional<CodecKind> zfp_codec() { return std::nullopt; }

}  // namespace sidestream
