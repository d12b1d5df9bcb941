// Arrays packed by the library zfp in one to three dimensions, with a bound for the error of each value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Extents of a contiguous array, the fastest axis first; 1 for missing axes.
using ZfpExtents = std::array<std::size_t, 3>;

[[nodiscard]] bool has_zfp() noexcept;  ///< false if built without the library

/// Packs an array of reals. With `header` the bytes describe themselves. Returns nothing if some value is not finite or
/// would be more than `bound` away, or if the library is missing. Throws std::bad_alloc.
[[nodiscard]] std::optional<Bytes> zfp_packed(BytesView values, Type type, const ZfpExtents& extents, double bound,
                                              bool header);

/// The header only, as whole 32-bit words: the parameters of HDF5's filter zfp.
[[nodiscard]] std::vector<std::uint32_t> zfp_header(Type type, const ZfpExtents& extents, double bound);

/// The versions of the library and of its format, as HDF5's filter zfp combines them into a parameter.
[[nodiscard]] std::uint32_t zfp_filter_version() noexcept;

/// The result of unpacking an array.
struct ZfpUnpacked {
  std::size_t values = 0;  ///< number of values, at the beginning of `out`
  std::size_t bytes = 0;   ///< number of bytes read
};
/// Unpacks the array with a header at the beginning of `packed`, which has at most as many values as `out` has room
/// for. Throws Error(file) if zfp cannot have made the bytes with this bound.
[[nodiscard]] ZfpUnpacked zfp_unpacked(BytesView packed, Type type, double bound, std::span<std::byte> out);

}  // namespace sidestream
