// Bounds of each value: kept by every finite value, whatever its size; zeros and signs are exact.
#include <cfenv>
#include <limits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "modules/bounded_codec/chunks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double parts[] = {0.99, 0.5, 0.1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-8};

/// Any bits: all exponents, NaN, infinities.
template <class Real>
std::vector<Real> any_bits(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Real> values(count);
  for (Real& value : values) {
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}

/// A smooth field of both signs over `decades`.
template <class Real>
std::vector<Real> decades(double count, double least) {
  std::vector<Real> values = smooth<Real>(cube, cube_points);
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double size = least * std::pow(10, count * (0.5 + 0.25 * static_cast<double>(values[n])));
    values[n] = static_cast<Real>(n / 24 / 20 < 5 ? size : -size);
  }
  return values;
}

/// Some values become others that have no logarithm, or hardly one.
template <class Real>
std::vector<Real> with_odd_ones(std::vector<Real> values, unsigned seed) {
  using Limits = std::numeric_limits<Real>;
  const Real odd[] = {Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(),
                      Limits::denorm_min(), -Limits::min(),     Limits::max(),
                      Limits::lowest(),     Real{-0.0},         Real{0}};
  std::mt19937 random(seed);
  for (Real& value : values) {
    if (random() % 16 == 0) value = odd[random() % std::size(odd)];
  }
  return values;
}

template <class Real>
void check_kinds() {
  for (const double part : parts) {
    check_each(any_bits<Real>(cube_points, 1), cube, part);
    check_each(any_bits<Real>(999, 2), {}, part);
    check_each(with_odd_ones(decades<Real>(12, 1e-6), 3), cube, part);
    check_each(std::vector<Real>(cube_points, Real{-3.7F}), cube, part);
    check_each(std::vector<Real>(cube_points, Real{-0.0}), cube, part);
    check_each(std::vector<Real>{Real{2.5}}, {}, part);
    check_each(std::vector<Real>{}, {}, part);
  }
}

template <class Real>
void check_shapes(std::mt19937& random) {
  const auto [place, count] = random_part(random);
  std::vector<Real> values = smooth<Real>(place, count);
  const std::size_t size = check_each(values, place, 1e-2);
  if (count > 3000) CHECK(size > 0);
  check_each(with_odd_ones(std::move(values), random()), place, 1e-2);
}

}  // namespace

TEST_CASE("every value keeps its own bound, zeros and signs are exact") {
  check_kinds<double>();
  check_kinds<float>();
}

TEST_CASE("each value of any part of an array keeps its bound") {
  std::mt19937 random(7);
  for (int n = 0; n < 200; ++n) {
    check_shapes<double>(random);
    check_shapes<float>(random);
  }
}

TEST_CASE("fields over many decades are packed, near the limits of their type too") {
  for (const double least : {1e-300, 1e-6, 1e280}) {
    CHECK(check_each(decades<double>(12, least), cube, 1e-3) < cube_points * 8 / 5);
    CHECK(check_each(decades<double>(12, least), cube, 1e-3) > 0);
  }
  for (const double least : {1e-35, 1e-6, 1e26}) {
    CHECK(check_each(decades<float>(12, least), cube, 1e-3) < cube_points * 4 / 3);
    CHECK(check_each(decades<float>(12, least), cube, 1e-3) > 0);
  }
  CHECK(check_each(decades<double>(600, 1e-300), cube, 1e-2) > 0);
}

TEST_CASE("subnormal values keep their bound") {
  std::vector<double> values;
  for (std::size_t n = 0; n < cube_points; ++n) {
    values.push_back(static_cast<double>(n * n) * std::numeric_limits<double>::denorm_min());
  }
  for (const double part : parts) check_each(values, cube, part);
  CHECK(check_each(values, cube, 1e-2) > 0);
}

TEST_CASE("what all values have in common takes no bits") {
  for (const double value : {0.0, -0.0, 3.7, -1e300, 1e-310}) {
    CHECK(check_each(std::vector<double>(cube_points, value), cube, 1e-3) < 300);
  }
  CHECK(check_each(std::vector<double>(cube_points, std::nan("")), cube, 1e-3) < 300);
}

TEST_CASE("a part that is too small for the type is no packing") {
  CHECK(check_each(decades<float>(3, 1), cube, 1e-8) == 0);
  CHECK(check_each(decades<float>(3, 1), cube, 1e-6) > 0);
  CHECK(check_each(decades<double>(3, 1), cube, 1e-8) > 0);
}

TEST_CASE("neither rounding nor the handling of denormals matter to bounds of each value") {
  const std::vector<double> values = with_odd_ones(decades<double>(600, 1e-320), 5);
  const Bytes stream = encoded(values, cube, "each:1e-3");
  const std::vector<double> back = decoded<double>(stream, values.size());
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
#if defined(__x86_64__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);  // flushes denormals
#endif
    const Bytes again = encoded(values, cube, "each:1e-3");
    const std::vector<double> there = decoded<double>(stream, values.size());
#if defined(__x86_64__)
    _mm_setcsr(before);
#endif
    std::fesetround(FE_TONEAREST);
    CHECK(again == stream);
    CHECK(std::memcmp(there.data(), back.data(), back.size() * sizeof(double)) == 0);
  }
}
