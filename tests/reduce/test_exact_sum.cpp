// ExactSum, compared with 128-bit integer arithmetic, which also rounds only once, and with cases worked out by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"

using namespace sidestream;

namespace {

__extension__ using Wide = __int128;

double sum_of(const std::vector<double>& values) {
  ExactSum sum;
  sum.add(values);
  return sum.value();
}

constexpr double greatest = std::numeric_limits<double>::max();
constexpr double least = std::numeric_limits<double>::denorm_min();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the sum of nothing is zero") { CHECK(ExactSum().value() == 0); }

TEST_CASE("sums that ordinary addition gets wrong") {
  CHECK(sum_of({1e16, 1, -1e16}) == 1);
  CHECK(sum_of({1, 1e100, 1, -1e100}) == 2);
  CHECK(sum_of({greatest, greatest, -greatest}) == greatest);
  CHECK(sum_of({greatest, least, -greatest}) == least);
  CHECK(sum_of({least, least, -greatest, greatest, least}) == 3 * least);
  CHECK(sum_of({0.1, 0.2, 0.3, -0.1, -0.2, -0.3}) == 0);
  CHECK(sum_of({-least, -least}) == -2 * least);
}

TEST_CASE("ties go to even and anything beyond a tie goes up") {
  const double half = std::ldexp(1, -53);  // half of the last bit of 1
  CHECK(sum_of({1, half}) == 1);
  CHECK(sum_of({1, half, least}) == 1 + 2 * half);
  CHECK(sum_of({1 + 2 * half, half}) == 1 + 4 * half);
  CHECK(sum_of({-1, -half, -least}) == -1 - 2 * half);
  CHECK(sum_of({2, -half / 2}) == 2);
  CHECK(sum_of({std::ldexp(1, 53) - 1, 0.5}) == std::ldexp(1, 53));  // rounding up makes the number longer
}

TEST_CASE("infinities and NaN") {
  CHECK(sum_of({1, infinity}) == infinity);
  CHECK(sum_of({-infinity, 5}) == -infinity);
  CHECK(std::isnan(sum_of({infinity, -infinity})));
  CHECK(std::isnan(sum_of({1, std::nan("")})));
  CHECK(sum_of({greatest, greatest}) == infinity);
  CHECK(sum_of({-greatest, -greatest, -greatest}) == -infinity);
  CHECK(sum_of({greatest, std::ldexp(1, 969)}) == greatest);  // less than half of the last bit
  CHECK(sum_of({greatest, std::ldexp(1, 970)}) == infinity);  // half of it
}

TEST_CASE("random sums are what 128-bit integers give") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    Wide exact = 0;
    ExactSum sum;
    for (int n = 0; n < 3000; ++n) {
      const auto mantissa = static_cast<std::int64_t>(random() >> 11) - (std::int64_t{1} << 52);
      const int shift = static_cast<int>(random() % 50);
      exact += static_cast<Wide>(mantissa) << shift;
      sum.add(std::ldexp(static_cast<double>(mantissa), shift - 30));
    }
    CHECK(sum.value() == std::ldexp(static_cast<double>(exact), -30));
  }
}

TEST_CASE("random sums of products are what 128-bit integers give") {
  std::mt19937_64 random(8);
  for (int round = 0; round < 200; ++round) {
    Wide exact = 0;
    ExactSum sum;
    for (int n = 0; n < 2000; ++n) {
      const auto a = static_cast<std::int64_t>(random() >> 12);
      const auto b = static_cast<std::int64_t>(random() >> 12) - (std::int64_t{1} << 51);
      exact += static_cast<Wide>(a) * b;
      sum.add_product(static_cast<double>(a), static_cast<double>(b));
    }
    CHECK(sum.value() == static_cast<double>(exact));
  }
}

TEST_CASE("sums of squares are exact") {
  std::mt19937_64 random(9);
  for (int round = 0; round < 200; ++round) {
    Wide exact = 0;
    ExactSum sum;
    for (int n = 0; n < 1000; ++n) {
      const auto a = static_cast<std::int64_t>(random() >> 12);
      exact += static_cast<Wide>(a) * a;
      sum.add_product(static_cast<double>(a), static_cast<double>(a));
    }
    CHECK(sum.value() == static_cast<double>(exact));
  }
}

TEST_CASE("neither order nor division matters, over the whole range of doubles") {
  std::mt19937_64 random(10);
  std::vector<double> values;
  for (int n = 0; n < 5000; ++n) {
    const double sign = random() % 2 ? 1 : -1;
    const int exponent = static_cast<int>(random() % 2000) - 1060;
    values.push_back(sign * std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53, exponent));
  }
  const double expected = sum_of(values);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    std::vector<std::int64_t> total(ExactSum::words, 0);
    ExactSum merged;
    for (std::size_t first = 0; first < values.size();) {
      const std::size_t n = std::min(values.size() - first, static_cast<std::size_t>(random() % 1500));
      ExactSum part;
      part.add(std::span(values).subspan(first, n));
      merged.add(part);
      const auto form = part.serialise();
      for (std::size_t w = 0; w < form.size(); ++w) total[w] += form[w];  // as Communicator::sum does
      first += n;
    }
    CHECK(merged.value() == expected);
    CHECK(ExactSum::deserialise(std::span<const std::int64_t, ExactSum::words>(total)).value() == expected);
  }
}

TEST_CASE("the serialised form keeps infinities and NaN apart") {
  ExactSum a, b;
  a.add(infinity);
  b.add(2.0);
  std::array<std::int64_t, ExactSum::words> total = a.serialise();
  const auto form = b.serialise();
  for (std::size_t w = 0; w < form.size(); ++w) total[w] += form[w];
  CHECK(ExactSum::deserialise(total).value() == infinity);
}

TEST_CASE("the expansion holds what one double cannot") {
  ExactSum sum;
  for (const double x : {1e30, 1.0, 1e-30, -1e-60}) sum.add(x);
  const auto terms = sum.expansion();
  ExactSum again;
  again.add(terms);
  sum.add(-terms[0]);
  CHECK(sum.value() == doctest::Approx(1.0));
  for (const double term : terms) again.add(-term);
  CHECK(again.value() == 0);
  CHECK(terms[0] == 1e30);
}

TEST_CASE("what exceeds the doubles has a mean, a part and an expansion") {
  for (const double sign : {1.0, -1.0}) {
    CAPTURE(sign);
    ExactSum sum;
    for (int n = 0; n < 3000; ++n) sum.add(sign * greatest);
    CHECK(is_great(sum));
    CHECK(std::isinf(sum.value()));
    CHECK(quotient_of(sum, 3000) == sign * greatest);
    CHECK(quotient_of(sum, -3000) == -sign * greatest);
    CHECK(quotient_of(sum, 1) == sign * infinity);
    CHECK(product_of(sum, 1.0 / 4096) == sign * greatest / 4096 * 3000);
    ExactSum back;
    for (const double term : lowered(sum).expansion()) back.add(term);
    for (int n = 0; n < 3000; ++n) back.add(-sign * std::ldexp(greatest, -great_bits));
    CHECK(back.value() == 0);
    ExactSum half;
    add_weighted(half, sum, 0.5);
    CHECK(is_great(half));
    for (int n = 0; n < 1500; ++n) half.add(-sign * greatest);
    CHECK(half.value() == 0);
    ExactSum less;
    add_weighted(less, sum, 1.0 / 3);
    CHECK(quotient_of(less, 1000) == doctest::Approx(sign * greatest).epsilon(1e-15));
  }
}

TEST_CASE("sums that are doubles, or no numbers, are as they were") {
  ExactSum sum;
  for (const double x : {0.1, 3e300, 1e-300, -7.0}) sum.add(x);
  CHECK(!is_great(sum));
  CHECK(quotient_of(sum, 3) == sum.value() / 3);
  CHECK(product_of(sum, 1e-7) == 1e-7 * sum.value());
  sum.add(infinity);
  CHECK(!is_great(sum));
  CHECK(quotient_of(sum, 5) == infinity);
  sum.add(-infinity);
  CHECK(std::isnan(product_of(sum, 5)));
}
