// Chunks for tests of the codec `bounded`, and their comparison value by value.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bounded_codec/bounded.hpp"
#include "support/chunk_places.hpp"

namespace sidestream::testing {

/// The place of a whole array, and its number of points.
inline const ChunkPlace cube{0, {24, 20, 12}, 1};
inline constexpr std::size_t cube_points = 24 * 20 * 12;

template <class Real>
constexpr Type type_of_real = sizeof(Real) == 4 ? Type::float32 : Type::float64;

template <class Real>
[[nodiscard]] Bytes encoded(const std::vector<Real>& values, const ChunkPlace& place, const std::string& bound) {
  Bytes out;
  const BytesView in = std::as_bytes(std::span(values));
  if (!bounded::encode(in, type_of_real<Real>, place, bounded::bound_of(bound), out)) out.clear();
  return out;
}

template <class Real>
[[nodiscard]] std::vector<Real> decoded(const Bytes& stream, std::size_t count) {
  std::vector<Real> values(count);
  bounded::decode(stream, type_of_real<Real>, std::as_writable_bytes(std::span(values)));
  return values;
}

/// Returns the encoded size, 0 if the values are to be stored as they are. Each value must keep the bound; those that
/// are not finite must keep their bits.
template <class Real>
std::size_t check_bound(const std::vector<Real>& values, const ChunkPlace& place, const std::string& bound,
                        double most) {
  const Bytes stream = encoded(values, place, bound);
  if (stream.empty()) return 0;
  const std::vector<Real> back = decoded<Real>(stream, values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (std::isfinite(values[n])) {
      REQUIRE(std::fabs(static_cast<double>(back[n]) - static_cast<double>(values[n])) <= most);
    } else {
      REQUIRE(std::memcmp(&back[n], &values[n], sizeof(Real)) == 0);
    }
  }
  return stream.size();
}

/// The same for `bounded:each:PART`. Zeros must keep their bits, all values their signs.
template <class Real>
std::size_t check_each(const std::vector<Real>& values, const ChunkPlace& place, double part) {
  const Bytes stream = encoded(values, place, fmt::format("each:{}", part));
  if (stream.empty()) return 0;
  const std::vector<Real> back = decoded<Real>(stream, values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (std::isfinite(values[n]) && values[n] != 0) {
      // No product or difference is rounded to a subnormal number here.
      const long double known = values[n], error = back[n] - known;
      REQUIRE(std::fabs(error) <= static_cast<long double>(part) * std::fabs(known));
      REQUIRE(std::signbit(back[n]) == std::signbit(values[n]));
    } else {
      REQUIRE(std::memcmp(&back[n], &values[n], sizeof(Real)) == 0);
    }
  }
  return stream.size();
}

/// A smooth field of several components, from element `place.first` on.
template <class Real>
[[nodiscard]] std::vector<Real> smooth(const ChunkPlace& place, std::size_t count) {
  std::vector<Real> values;
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint64_t element = place.first + n, point = element / place.components;
    const auto x = static_cast<double>(point % place.points[0]);
    const auto y = static_cast<double>(point / place.points[0] % place.points[1]);
    const auto z = static_cast<double>(point / place.points[0] / place.points[1]);
    const auto c = static_cast<double>(element % place.components);
    values.push_back(static_cast<Real>(std::sin(0.1 * x + c) * std::cos(0.07 * y) + std::sin(0.05 * z) + 100 * c));
  }
  return values;
}

}  // namespace sidestream::testing
