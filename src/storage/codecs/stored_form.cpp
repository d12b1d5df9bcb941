#include "sidestream/kit/storage/codecs/stored_form.hpp"

#include <fmt/format.h>

#include <limits>

#include "storage/codecs/reduced_reals.hpp"

namespace sidestream {

namespace {

using Kind = Precision::Kind;

Type integer_of(int bytes) { return bytes == 1 ? Type::int8 : bytes == 2 ? Type::int16 : Type::int32; }

/// Stored integers are symmetric around 0; the lowest of the type, -2^(bits - 1), stands for NaN.
template <class Number>
constexpr double most = std::numeric_limits<Number>::max();

double most_of(int bytes) {
  return bytes == 1 ? most<std::int8_t> : bytes == 2 ? most<std::int16_t> : most<std::int32_t>;
}

template <class Number, class Real>
void quantise(BytesView published, const StoredForm& form, std::byte* out) {
  // Captured by value: for a compiler, the written bytes could alias the form.
  for_each_real<Real>(published, out, [scale = form.scale, offset = form.offset](Real real) {
    const auto value = static_cast<double>(real);
    const double number = nearest_whole((value - offset) / scale);
    // Comparisons with NaN are false, so that the conversion never sees it.
    const double inside = number > -most<Number> ? (number < most<Number> ? number : most<Number>) : -most<Number>;
    return std::isnan(value) ? std::numeric_limits<Number>::lowest() : static_cast<Number>(inside);
  });
}

template <class Real>
void quantise_as(BytesView published, const StoredForm& form, std::byte* out) {
  if (form.type == Type::int8) return quantise<std::int8_t, Real>(published, form, out);
  if (form.type == Type::int16) return quantise<std::int16_t, Real>(published, form, out);
  quantise<std::int32_t, Real>(published, form, out);
}

template <class Real>
void reduce(BytesView published, const StoredForm& form, std::byte* out) {
  switch (form.precision.kind) {
    case Kind::bit_round:
      return for_each_real<Real>(published, out, [bits = form.precision.bits](Real v) { return bit_rounded(v, bits); });
    case Kind::round:
      return for_each_real<Real>(published, out,
                                 [unit = rounding_unit(form.precision.bound)](Real v) { return rounded_to(v, unit); });
    case Kind::single:
      return for_each_real<Real>(published, out, [](Real v) { return static_cast<float>(v); });
    case Kind::half:
      if (form.is_half) return for_each_real<Real>(published, out, [](Real v) { return half_bits(v); });
      return for_each_real<Real>(published, out,
                                 [](Real v) { return static_cast<float>(from_half_bits(half_bits(v))); });
    case Kind::quantise:
      return quantise_as<Real>(published, form, out);
    default:
      break;
  }
}

}  // namespace

StoredForm::StoredForm(const Precision& wanted, Type published, const FiniteExtremes& extremes, HalfAs half)
    : precision(wanted), from(published), type(published) {
  if (wanted.kind == Kind::single) {
    type = Type::float32;
    if (extremes.largest() > static_cast<double>(std::numeric_limits<float>::max())) {
      keep_full("it has numbers beyond 3.4e38");
    }
  } else if (wanted.kind == Kind::half) {
    is_half = half == HalfAs::bits;
    type = is_half ? Type::uint16 : Type::float32;
    if (extremes.largest() > largest_half) keep_full("it has numbers beyond 65504");
  } else if (wanted.kind == Kind::quantise) {
    choose_scale(extremes);
  }
}

void StoredForm::keep_full(std::string why) {
  why_full = std::move(why);
  precision = {};
  type = from;
  is_half = is_scaled = false;
}

/// Maps the extremes to the range of the integers. A reader computes with float64, so the scale must be a normal
/// number.
void StoredForm::choose_scale(const FiniteExtremes& extremes) {
  constexpr double largest = std::numeric_limits<double>::max() / 2;
  type = integer_of(precision.bits);
  is_scaled = true;
  if (extremes.has_infinite) return keep_full("it has infinite values");
  if (extremes.empty()) return;
  offset = extremes.low;
  if (extremes.low == extremes.high) return;
  if (extremes.largest() > largest) return keep_full("it has numbers beyond 8.9e307");
  const double range = extremes.high - extremes.low;
  scale = range / (2 * most_of(precision.bits));
  offset = extremes.low + range / 2;
  if (scale < std::numeric_limits<double>::min()) keep_full(fmt::format("its values differ by {} at most", range));
}

BytesView StoredForm::apply(BytesView published, Bytes& made) const {
  if (is_full() || precision.kind == Kind::zfp) return published;
  made.resize(published.size() / size_of(from) * size_of(type));
  if (from == Type::float32) {
    reduce<float>(published, *this, made.data());
  } else {
    reduce<double>(published, *this, made.data());
  }
  return made;
}

}  // namespace sidestream
