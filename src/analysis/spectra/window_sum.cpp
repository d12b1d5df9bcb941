#include "analysis/spectra/window_sum.hpp"

#include <algorithm>
#include <cmath>

namespace sidestream::spectra {

void WindowSum::flush(ExactSum& behind) noexcept {
  // Pieces of 32 bits are doubles; the last one has the sign.
  for (int piece = 0; piece < 4; ++piece) {
    const Wide rest = sum_ >> 32 * piece;
    const auto part = piece < 3 ? static_cast<double>(static_cast<std::uint32_t>(rest))
                                : static_cast<double>(static_cast<std::int64_t>(rest));
    if (part != 0) behind.add(std::ldexp(part, 32 * piece + static_cast<int>(lowest_) - 1075));
  }
  sum_ = 0;
  left_ = 0;
}

void WindowSum::add_other(double x, ExactSum& behind) noexcept {
  // Of a mantissa of 53 bits, moved by 63, as many as this fit into 127.
  constexpr std::uint32_t most = 1 << 10;
  // So that no sum of the window is beyond the doubles, and no unit below them.
  constexpr std::uint32_t highest = 1023 + 1075 - 126;
  const auto exponent = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff);
  if (exponent == 0 || exponent >= highest + window) return behind.add(x);
  flush(behind);
  lowest_ = std::clamp<std::uint32_t>(exponent > window / 2 ? exponent - window / 2 : 1, 1, highest);
  left_ = most;
  add(x, behind);
}

}  // namespace sidestream::spectra
