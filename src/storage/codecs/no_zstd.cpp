#include "storage/codecs/codecs.hpp"

namespace sidestream {

std::optional<CodecKind> zstd_codec() { return std::nullopt; }

}  // namespace sidestream
