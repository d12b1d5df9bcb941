// Intervals of wave numbers, and the modes of a box that belong to them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/extend/exact_sum.hpp"

namespace sidestream::spectra {

/// A periodic box with even sampling, as seen by a Fourier transform. Axes that are not used have one point and do not
/// count.
struct WaveBox {
  Index3 points{1, 1, 1};
  std::array<double, 3> lengths{1, 1, 1};

  /// 2 pi over the longest side, the unit of wave numbers.
  [[nodiscard]] double fundamental() const noexcept;
  /// (2 pi / length) / fundamental() for an axis: exactly 1 for the longest, so that modes of a cube are integers.
  [[nodiscard]] double ratio(int axis) const noexcept;
  /// Largest wave number that all axes have, in units of the fundamental.
  [[nodiscard]] double nyquist() const noexcept;
  [[nodiscard]] double volume() const noexcept;  ///< length or area for boxes of fewer axes
  [[nodiscard]] double count() const noexcept;   ///< number of points
  [[nodiscard]] int dimensions() const noexcept;
};

/// Half-open intervals [e_n, e_n+1) of wave numbers in units of the fundamental. No interval contains the mode 0.
class WaveBins {
 public:
  /// Shells from s - 1/2 to s + 1/2, s = 1 ... floor(nyquist): the mode n is in the shell floor(|n| + 1/2).
  [[nodiscard]] static WaveBins shells(double nyquist);
  /// Edges 1, 2 ... 10, then 11 (12/11)^j, up to `nyquist`: those of Gimlet (Friesen et al., "In situ and in-transit
  /// analysis of cosmological simulations", 2016).
  [[nodiscard]] static WaveBins widening(double nyquist);
  /// At least two ascending edges, none negative.
  explicit WaveBins(std::vector<double> edges);

  [[nodiscard]] std::size_t count() const noexcept { return edges_.size() - 1; }
  [[nodiscard]] const std::vector<double>& edges() const noexcept { return edges_; }
  /// Calls f(bin, from, end) for each part of a line of modes that lies in one bin. `from` is the first mode of the
  /// part, `end` the upper bound of its squares; f returns the end of the part. `squares` of the wave numbers must
  /// ascend.
  template <class F>
  void for_each_part(const std::vector<double>& squares, F&& f) const {
    const std::size_t n = squares.size();
    std::size_t at = 0, bin = 0;
    while (at < n && (squares[at] < squares_.front() || squares[at] == 0)) ++at;
    while (at < n) {
      while (bin < count() && squares[at] >= squares_[bin + 1]) ++bin;
      if (bin == count()) return;
      at = f(bin, at, squares_[bin + 1]);
    }
  }

 private:
  std::vector<double> edges_, squares_;
};

// Fast exact sums of many numbers of similar size.

/// Accumulator in front of an ExactSum: adds numbers within 64 binary orders of magnitude of each other in one integer
/// of 128 bits. Other numbers, and flushed sums, go to the ExactSum. The total is the same bits, at a fraction of the
/// time and cache.
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
  /// Adds the accumulated sum to `behind` and starts anew.
  void flush(ExactSum& behind) noexcept;

 private:
  __extension__ using Wide = __int128;
  static constexpr std::uint32_t window = 64;
  void add_other(double x, ExactSum& behind) noexcept;

  Wide sum_ = 0;              ///< in units of 2^(lowest - 1075)
  std::uint32_t lowest_ = 0;  ///< biased exponent of the smallest numbers that fit
  std::uint32_t left_ = 0;    ///< how many more numbers are certain to fit
};

}  // namespace sidestream::spectra
