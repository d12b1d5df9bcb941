// A density field computed only with whole numbers, which has the same bits in every language. The tables under
// tests/data/cosmology are of this field.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace sidestream::testing {

/// n^3 values, with index (x n + y) n + z. They are 20 bits of splitmix64 of 2016 + index, smoothed in three periodic
/// passes by the sum over three neighbours along each axis. The result is the exponent of a power of two, which is
/// interpolated linearly between whole exponents.
inline std::vector<double> hash_field(std::int64_t n) {
  std::vector<std::int64_t> v(static_cast<std::size_t>(n * n * n));
  for (std::size_t i = 0; i < v.size(); ++i) {
    std::uint64_t z = 2016 + i + 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    v[i] = static_cast<std::int64_t>((z ^ z >> 31) >> 44);
  }
  for (int pass = 0; pass < 3; ++pass) {
    for (std::int64_t stride : {n * n, n, std::int64_t{1}}) {
      const std::vector<std::int64_t> before = v;
      for (std::int64_t i = 0; i < n * n * n; ++i) {
        const std::int64_t at = i / stride % n, line = i - at * stride;
        v[static_cast<std::size_t>(i)] = before[static_cast<std::size_t>(line + (at + 1) % n * stride)] +
                                         before[static_cast<std::size_t>(i)] +
                                         before[static_cast<std::size_t>(line + (at + n - 1) % n * stride)];
      }
    }
  }
  std::vector<double> field;
  for (const std::int64_t sum : v) {
    const std::int64_t number = sum - std::int64_t{27 * 27 * 27} * 524288, power = number >> 28;
    const double rest = static_cast<double>(number - (power << 28)) / static_cast<double>(1 << 28);
    field.push_back(std::ldexp(1 + rest, static_cast<int>(power)));
  }
  return field;
}

}  // namespace sidestream::testing
