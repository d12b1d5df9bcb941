// Exact sums of many numbers of similar size.
#pragma once

#include <bit>
#include <cstdint>

#include "sidestream/extend/exact_sum.hpp"

namespace sidestream::spectra {

/// Adds numbers within 64 binary orders of magnitude of each other in one integer of 128 bits, before an ExactSum,
/// which takes others and what is flushed. The whole is the same, bit by bit; it takes a part of the time and of the
/// cache.
class WindowSum {
 public:
  void add(double x, ExactSum& behind) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto shift = static_cast<std::uint32_t>(bits >> 52 & 0x7ff) - lowest_;
    if (shift >= window || left_ == 0) return add_other(x, behind);
    const auto mantissa = static_cast<std::int64_t>((bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52);
    const std::int64_t sign = static_cast<std::int64_t>(bits) >> 63;  // 0 or -1
    sum_ += static_cast<Wide>((mantissa ^ sign) - sign) << shift;
    --left_;
  }
  /// Gives what was added to `behind`, and begins anew.
  void flush(ExactSum& behind) noexcept;

 private:
  __extension__ using Wide = __int128;
  static constexpr std::uint32_t window = 64;
  void add_other(double x, ExactSum& behind) noexcept;

  Wide sum_ = 0;              ///< in units of 2^(lowest - 1075)
  std::uint32_t lowest_ = 0;  ///< exponent of the least numbers that fit, as doubles have it
  std::uint32_t left_ = 0;    ///< how many more numbers surely fit
};

}  // namespace sidestream::spectra
