// Intervals of wave numbers, and which modes of a box are in them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/extend/exact_sum.hpp"

namespace sidestream::spectra {

/// A periodic box that is sampled evenly, as a Fourier transform sees it. Axes that are not used have one point and do
/// not count.
struct WaveBox {
  Index3 points{1, 1, 1};
  std::array<double, 3> lengths{1, 1, 1};

  /// 2 pi over the longest side: wave numbers are counted in this unit.
  [[nodiscard]] double fundamental() const noexcept;
  /// (2 pi / length) / fundamental() of an axis: exactly 1 for the longest, so that modes of a cube are whole numbers.
  [[nodiscard]] double ratio(int axis) const noexcept;
  /// The greatest wave number that all axes have, in units of the fundamental.
  [[nodiscard]] double nyquist() const noexcept;
  [[nodiscard]] double volume() const noexcept;  ///< length or area, of boxes of fewer axes
  [[nodiscard]] double count() const noexcept;   ///< of points
  [[nodiscard]] int dimensions() const noexcept;
};

/// Half-open intervals [e_n, e_n+1) of wave numbers in units of the fundamental. The mode 0 is in none.
class WaveBins {
 public:
  /// s - 1/2 to s + 1/2, s = 1 ... floor(nyquist): the mode n is in the shell floor(|n| + 1/2).
  [[nodiscard]] static WaveBins shells(double nyquist);
  /// Edges 1, 2 ... 10, then 11 (12/11)^j, as far as they do not exceed `nyquist`: those of Gimlet (Friesen et al.,
  /// "In situ and in-transit analysis of cosmological simulations", 2016).
  [[nodiscard]] static WaveBins widening(double nyquist);
  /// Two ascending edges at least, none negative.
  explicit WaveBins(std::vector<double> edges);

  [[nodiscard]] std::size_t count() const noexcept { return edges_.size() - 1; }
  [[nodiscard]] const std::vector<double>& edges() const noexcept { return edges_; }
  /// For the parts of a line of modes that are in one bin: calls f(bin, from, end), where from is the first mode of the
  /// part and `end` the square that the part's are below; f returns where the part ends. `squares` of the wave numbers
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

// Exact sums of many numbers of similar size.

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
