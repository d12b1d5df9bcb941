#include "storage/codecs/codecs.hpp"

namespace sidestream {

std::optional<CodecKind> zstd_codec() { return std::nullopt; }

std::shared_ptr<const Codec> zstd_of_level(int) { return nullptr; }

}  // namespace sidestream
