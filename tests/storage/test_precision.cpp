// Precisions: every value keeps the bound of its word, whatever it is, and what cannot keep it is stored in full.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sidestream/error.hpp"
#include "sidestream/kit/storage/codecs/stored_form.hpp"
#include "sidestream/kit/storage/hdf5/file.hpp"
#include "storage/codecs/reduced_reals.hpp"
#include "support/message_of.hpp"

using namespace sidestream;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

template <class Real>
constexpr Type type_of = sizeof(Real) == 4 ? Type::float32 : Type::float64;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Random bits, and numbers near `centre` within `spread`.
template <class Real>
std::vector<Real> drawn(std::size_t count, double centre, double spread, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Real> values;
  for (std::size_t n = 0; n < count; ++n) {
    values.push_back(static_cast<Real>(centre + spread * (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5)));
  }
  return values;
}

template <class Real>
std::vector<Real> any_bits(std::size_t count) {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 random(7);
  std::vector<Real> values;
  for (std::size_t n = 0; n < count; ++n) values.push_back(std::bit_cast<Real>(static_cast<Bits>(random())));
  for (const double odd : {0.0, -0.0, not_a_number, infinity, -infinity, 1.0, -1.0})
    values.push_back(static_cast<Real>(odd));
  for (const Real sign : {Real{1}, Real{-1}}) {
    values.push_back(sign * std::numeric_limits<Real>::max());
    values.push_back(sign * std::numeric_limits<Real>::min());
    values.push_back(sign * std::numeric_limits<Real>::denorm_min());
    values.push_back(sign * std::nextafter(std::numeric_limits<Real>::min(), Real{0}));
  }
  return values;
}

FiniteExtremes extremes_of(BytesView values, Type type) {
  FiniteExtremes extremes;
  type == Type::float32 ? extremes.add<float>(values) : extremes.add<double>(values);
  return extremes;
}

/// 16-bit reals as the standard defines them, bit by bit.
double half_of(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023, sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction > 0 ? not_a_number : sign * infinity;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1 + fraction / 1024, exponent - 15));
}

template <class T>
double number_at(BytesView bytes, std::size_t n) {
  T value;
  std::memcpy(&value, bytes.data() + n * sizeof value, sizeof value);
  return static_cast<double>(value);
}

/// The value that a reader computes from stored value number n.
double read_back(const StoredForm& form, BytesView stored, std::size_t n) {
  if (form.is_half) return half_of(static_cast<std::uint16_t>(number_at<std::uint16_t>(stored, n)));
  const double number = with_type(form.type, [&](auto zero) { return number_at<decltype(zero)>(stored, n); });
  if (!form.is_scaled) return number;
  const double missing = form.type == Type::int8 ? -128 : form.type == Type::int16 ? -32768 : -2147483648.0;
  return number == missing ? not_a_number : number * form.scale + form.offset;
}

/// The largest error that the word allows for x.
double allowed(const StoredForm& form, double x, const FiniteExtremes& extremes, double smallest_normal) {
  using Kind = Precision::Kind;
  const double size = std::fabs(x);
  switch (form.precision.kind) {
    case Kind::bit_round:
      return std::ldexp(std::fmax(size, smallest_normal), -form.precision.bits - 1);
    case Kind::round:
      return form.precision.bound;
    case Kind::single:
      return std::fmax(std::ldexp(size, -24), 0x1p-150);
    case Kind::half:
      return std::fmax(std::ldexp(size, -11), 0x1p-25);
    case Kind::quantise: {
      // Half a step, and the rounding of the computation with float64.
      const double steps = std::ldexp(1.0, 8 * form.precision.bits) - 2;
      return (extremes.high - extremes.low) / steps / 2 * (1 + 1e-9) + std::ldexp(extremes.largest(), -51);
    }
    default:
      return 0;
  }
}

template <class Real>
void check(const std::string& word, const std::vector<Real>& values, HalfAs half = HalfAs::bits) {
  const Type type = type_of<Real>;
  const Precision precision = precision_named(word, type);
  const Bytes published = bytes_of(values);
  const FiniteExtremes extremes = extremes_of(published, type);
  const StoredForm form(precision, type, extremes, half);
  Bytes made;
  const Bytes stored = [&] {
    const BytesView bytes = form.apply(published, made);
    return Bytes(bytes.begin(), bytes.end());
  }();
  REQUIRE(stored.size() == values.size() * size_of(form.type));
  CHECK(form.is_full() == !form.why_full.empty());
  for (std::size_t n = 0; n < values.size(); ++n) {
    const auto x = static_cast<double>(values[n]);
    const double y = read_back(form, stored, n);
    if (!std::isfinite(x)) {
      REQUIRE((std::isnan(x) ? std::isnan(y) : y == x));
      continue;
    }
    const double most = allowed(form, x, extremes, static_cast<double>(std::numeric_limits<Real>::min()));
    if (!(std::fabs(y - x) <= most)) {
      FAIL_CHECK(word << " of " << x << " became " << y << ", which is more than " << most << " away");
      return;
    }
  }
}

template <class Real>
void check_all(const std::vector<Real>& values) {
  for (const char* word :
       {"bit-round:1", "bit-round:7", "bit-round:10", "bit-round:22", "round:1e-3", "round:0.3", "round:5",
        "round:1e300", "round:1e-320", "half", "quantise-1", "quantise-2", "quantise-4"}) {
    check(word, values);
  }
  check("half", values, HalfAs::float32);
  if constexpr (sizeof(Real) == 8) {
    check("bit-round:51", values);
    check("single", values);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("each value keeps the bound of its word", Real, float, double) {
  check_all(any_bits<Real>(20000));
  check_all(std::vector<Real>{});
  check_all(std::vector<Real>(10, Real{3.5}));
  check_all(std::vector<Real>(10, static_cast<Real>(not_a_number)));
  check_all(std::vector<Real>{Real{1}, static_cast<Real>(not_a_number), Real{2}});
  check_all(std::vector<Real>{Real{1}, static_cast<Real>(infinity)});
  unsigned seed = 0;
  for (const double spread : {1e-13, 1e-6, 1.0, 2000.0, 1e30}) {
    for (const double centre : {0.0, 1.0, -1e5, 1e20}) check_all(drawn<Real>(3000, centre, spread, ++seed));
  }
}

TEST_CASE("ranges at the limits of float64 keep the bound or are stored in full") {
  check_all(drawn<double>(3000, 0, 1e300, 1));
  check_all(drawn<double>(3000, 0, 1.7e308, 2));
  check_all(std::vector<double>{-1.7e308, 1.7e308, 0});
  check_all(drawn<double>(3000, 0, 1e-300, 3));
  check_all(drawn<double>(3000, 0, 1e-310, 4));
  check_all(drawn<double>(3000, 1e300, 1e286, 5));
}

TEST_CASE("16-bit reals are the nearest ones, ties to even") {
  // Every finite number of 16 bits is itself, and the middle between two neighbours goes to the even one.
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const double low = half_of(static_cast<std::uint16_t>(bits)), high = half_of(static_cast<std::uint16_t>(bits + 1));
    REQUIRE(half_bits(low) == bits);
    REQUIRE(half_bits(-low) == (bits | 0x8000));
    REQUIRE(half_bits((low + high) / 2) == (bits % 2 == 0 ? bits : bits + 1));
    REQUIRE(half_bits(std::nextafter((low + high) / 2, 0)) == bits);
    REQUIRE(half_bits(std::nextafter((low + high) / 2, 1e9)) == bits + 1);
    REQUIRE(from_half_bits(static_cast<std::uint16_t>(bits)) == low);
  }
  CHECK(half_bits(65504) == 0x7bff);
}

TEST_CASE("rounding is to the nearest, ties to even") {
  CHECK(bit_rounded(1.0 + 0x1p-4, 3) == 1.0);  // a tie
  CHECK(bit_rounded(1.0 + 3 * 0x1p-4, 3) == 1.25);
  CHECK(bit_rounded(1.0 + 0x1.8p-4, 3) == 1.125);
  CHECK(bit_rounded(0x1.fp0, 3) == 2.0);
  CHECK(bit_rounded(-0x1.fp0F, 3) == -2.0F);
  CHECK(rounding_unit(1e-3) == 0x1p-9);
  CHECK(rounding_unit(0.5) == 1.0);
  CHECK(rounded_to(2.5, 1.0) == 2.0);
  CHECK(rounded_to(3.5F, 1.0) == 4.0F);
}

TEST_CASE("quantised numbers fill their type, and constants are exact") {
  const StoredForm form(precision_named("quantise-1", Type::float64), Type::float64, {-1, 3, false}, HalfAs::bits);
  Bytes made;
  const Bytes published = bytes_of(std::vector<double>{-1, 3, 1, not_a_number});
  const BytesView stored = form.apply(published, made);
  CHECK(number_at<std::int8_t>(stored, 0) == -127);
  CHECK(number_at<std::int8_t>(stored, 1) == 127);
  CHECK(number_at<std::int8_t>(stored, 2) == 0);
  CHECK(number_at<std::int8_t>(stored, 3) == -128);
  const StoredForm constant(precision_named("quantise-2", Type::float32), Type::float32, {0.1F, 0.1F, false},
                            HalfAs::bits);
  CHECK(constant.scale == 1);
  CHECK(constant.offset == static_cast<double>(0.1F));
}

TEST_CASE("what is not a precision gets a sentence") {
  const auto message = [](const std::string& word, Type type = Type::float64) {
    return testing::message_of([&] { static_cast<void>(precision_named(word, type)); });
  };
  CHECK(message("bit-rond:3").find("did you mean 'bit-round'?") != std::string::npos);
  CHECK(message("bit-round").find("expected 'bit-round:BITS'") != std::string::npos);
  CHECK(message("half:1").find("expected 'half'") != std::string::npos);
  for (const char* word : {"bit-round:0", "bit-round:52", "bit-round:x", "bit-round:3.5", "bit-round:-1"}) {
    CHECK_MESSAGE(message(word).find("from 1 to 51 for float64") != std::string::npos, word);
  }
  CHECK(message("bit-round:23", Type::float32).find("from 1 to 22 for float32") != std::string::npos);
  for (const char* word : {"round:0", "round:-1", "round:nan", "round:inf", "round:1e999", "round:1e-3x"}) {
    CHECK_MESSAGE(message(word).find("a number above 0") != std::string::npos, word);
  }
  CHECK(message("half", Type::int32).find("expected float32 or float64") != std::string::npos);
  CHECK(message("single", Type::float32).find("which are single") != std::string::npos);
}

TEST_CASE("Fletcher-32 is the definition's, in words of two bytes, the high one first") {
  std::mt19937 random(3);
  for (const std::size_t size : {0u, 1u, 2u, 3u, 5u, 8u, 1000u, 70001u}) {
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 3 == 0 ? 255 : random());
    std::uint64_t first = 0, second = 0;
    for (std::size_t n = 0; n < size; n += 2) {
      first = (first + static_cast<std::uint64_t>(bytes[n]) * 256 +
               (n + 1 < size ? std::to_integer<unsigned>(bytes[n + 1]) : 0)) %
              65535;
      second = (second + first) % 65535;
    }
    const std::uint32_t found = hdf5::fletcher32(bytes);
    CHECK((found & 0xffff) % 65535 == first);
    CHECK((found >> 16) % 65535 == second);
  }
}
