// Replaces zfp.cpp and zfp_array.cpp in builds without the library.
#include "sidestream/kit/base/fail.hpp"
#include "storage/codecs/codecs.hpp"
#include "storage/codecs/zfp_array.hpp"

namespace sidestream {

std::optional<CodecKind> zfp_codec() { return std::nullopt; }

bool has_zfp() noexcept { return false; }

std::optional<Bytes> zfp_packed(BytesView, Type, const ZfpExtents&, double, bool) { return std::nullopt; }

std::vector<std::uint32_t> zfp_header(Type, const ZfpExtents&, double) { return {}; }

std::uint32_t zfp_filter_version() noexcept { return 0; }

ZfpUnpacked zfp_unpacked(BytesView, Type, double, std::span<std::byte>) {
  fail(Code::file, "this build of Sidestream has no zfp; use one that has it");
}

}  // namespace sidestream
