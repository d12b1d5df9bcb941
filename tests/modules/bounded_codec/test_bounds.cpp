// The bound is kept by every value, whatever the values, the shape and the process are.
#include <fmt/format.h>

#include <algorithm>
#include <cfenv>
#include <limits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "modules/bounded_codec/chunks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// Values of a kind, of which some are odd.
template <class Real>
std::vector<Real> mixed(unsigned seed) {
  std::mt19937_64 random(seed);
  using Limits = std::numeric_limits<Real>;
  const std::vector<Real> odd{Limits::quiet_NaN(),
                              -Limits::quiet_NaN(),
                              Limits::infinity(),
                              -Limits::infinity(),
                              Limits::denorm_min(),
                              -Limits::denorm_min(),
                              Limits::max(),
                              Limits::lowest(),
                              Limits::min(),
                              Real{-0.0},
                              Real{0}};
  std::vector<Real> values = smooth<Real>(cube, cube_points);
  for (Real& value : values) {
    if (random() % 20 == 0) value = odd[random() % odd.size()];
  }
  return values;
}

template <class Real>
void check_shapes(std::mt19937& random) {
  const auto [place, count] = random_part(random);
  const std::size_t size = check_bound(smooth<Real>(place, count), place, "1e-3", 1e-3);
  if (count > 3000) CHECK(size > 0);
}

}  // namespace

TEST_CASE("any part of an array of one to three dimensions and several components keeps its bound") {
  std::mt19937 random(5);
  for (int n = 0; n < 300; ++n) {
    check_shapes<double>(random);
    check_shapes<float>(random);
  }
  const std::vector<double> line = smooth<double>(cube, cube_points);
  CHECK(check_bound(line, {}, "1e-3", 1e-3) > 0);
  CHECK(check_bound<double>({1.5}, {}, "1e-3", 1e-3) == 0);
  CHECK(check_bound<double>({}, {}, "1e-3", 1e-3) == 0);
}

TEST_CASE("values that are not finite keep their bits, and others beside them their bound") {
  for (unsigned seed = 0; seed < 5; ++seed) {
    CHECK(check_bound(mixed<double>(seed), cube, "1e-3", 1e-3) > 0);
    CHECK(check_bound(mixed<float>(seed), cube, "1e-3", 1e-3) > 0);
  }
  CHECK(check_bound(std::vector<double>(cube_points, std::nan("")), cube, "1e-3", 0) < 300);
  CHECK(check_bound(std::vector<double>(cube_points, std::nan("")), cube, "range:1e-3", 0) < 300);
  CHECK(check_bound(std::vector<float>(cube_points, -INFINITY), cube, "1e-3", 0) < 300);
}

TEST_CASE("ranges may be tiny or huge, and far from zero") {
  const std::vector<double> unit = smooth<double>(cube, cube_points);
  for (const double scale : {1e-300, 1e-250, 1e-13, 1.0, 1e13, 1e300}) {
    for (const double offset : {0.0, 1.0, -1e6}) {
      std::vector<double> values;
      for (const double value : unit) values.push_back(offset + scale * value);
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      for (const double part : {1e-2, 1e-4, 1e-6}) {
        const double most = part * (*high - *low);
        const std::size_t size = check_bound(values, cube, fmt::format("range:{}", part), most);
        CHECK((size > 0) == (most == 0 || most > 1e-297));
        if (most > 0) check_bound(values, cube, fmt::format("{}", most), most);
      }
    }
  }
}

TEST_CASE("constants are exact, with any bound of their range") {
  for (const double value : {0.0, -0.0, 1e-310, 3.7, -1e300}) {
    CHECK(check_bound(std::vector<double>(cube_points, value), cube, "range:1e-3", 0) < 300);
    check_bound(std::vector<float>(cube_points, static_cast<float>(value)), cube, "range:1e-3", 0);
  }
}

TEST_CASE("noise that cannot be packed is stored as it is") {
  std::mt19937_64 random(1);
  std::vector<double> values(cube_points);
  for (double& value : values) value = std::ldexp(static_cast<double>(random()), -64);
  CHECK(check_bound(values, cube, "1e-15", 1e-15) == 0);
  CHECK(check_bound(values, cube, "1e-9", 1e-9) > 0);
  CHECK(check_bound(values, cube, "1e-30", 1e-30) == 0);
  CHECK(check_bound(values, cube, "1e-320", 1e-320) == 0);
}

TEST_CASE("neither rounding nor the handling of denormals matter") {
  const std::vector<float> values = mixed<float>(3);
  const Bytes stream = encoded(values, cube, "1e-3");
  const std::vector<float> back = decoded<float>(stream, values.size());
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
#if defined(__x86_64__)
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);  // flushes denormals
#endif
    const Bytes again = encoded(values, cube, "1e-3");
    const std::vector<float> there = decoded<float>(stream, values.size());
#if defined(__x86_64__)
    _mm_setcsr(before);
#endif
    CHECK(std::fegetround() == mode);
    std::fesetround(FE_TONEAREST);
    CHECK(again == stream);
    CHECK(std::memcmp(there.data(), back.data(), back.size() * sizeof(float)) == 0);
  }
}
