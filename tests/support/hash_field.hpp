// A periodic density of n^3 cells with halos in it, which has the same bits in every language. Hashes of a counter are
// smoothed three times, and an exact power of two is taken instead of an exponential. Its reference results are in
// tests/data/cosmology.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream::testing {

/// Index of a cell: (x n + y) n + z. Hashes are 20 bits of splitmix64 of `seed` + index. Smoothing sums three
/// neighbours along each periodic axis. The result is the exponent of a power of two, interpolated linearly between
/// whole ones.
class HashField {
 public:
  explicit HashField(Index n, std::uint64_t seed = 2016) : n_(n), values_(static_cast<std::size_t>(n * n * n)) {
    std::vector<std::int64_t> sums(values_.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<std::int64_t>(mixed(seed + i) >> 44);
    for (int pass = 0; pass < 3; ++pass) {
      for (const Index stride : {n * n, n, Index{1}}) sums = smoothed(sums, stride);
    }
    constexpr std::int64_t middle = 27 * 27 * 27 * std::int64_t{524288}, unit = std::int64_t{1} << 28;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::int64_t number = sums[i] - middle, whole = number >> 28;
      const double part = static_cast<double>(number - whole * unit) / static_cast<double>(unit);
      values_[i] = std::ldexp(1.0 + part, static_cast<int>(whole));
    }
  }
  [[nodiscard]] double operator()(const Index3& p) const {
    return values_[static_cast<std::size_t>((p[0] * n_ + p[1]) * n_ + p[2])];
  }
  /// All values, by index.
  [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
  /// The sum of each cell and its two neighbours along the axis of that stride.
  [[nodiscard]] std::vector<std::int64_t> smoothed(const std::vector<std::int64_t>& from, Index stride) const {
    std::vector<std::int64_t> to(from.size());
    const Index around = stride * n_;
    for (Index i = 0; i < static_cast<Index>(from.size()); ++i) {
      const Index place = i / stride % n_;
      const Index below = place == 0 ? i + around - stride : i - stride;
      const Index above = place == n_ - 1 ? i - around + stride : i + stride;
      to[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(below)] + from[static_cast<std::size_t>(i)] +
                                        from[static_cast<std::size_t>(above)];
    }
    return to;
  }

  Index n_;
  std::vector<double> values_;
};

}  // namespace sidestream::testing
