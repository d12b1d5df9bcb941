// The two sides of walk(): one encodes the points of a box, the other decodes them.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "bounded_codec/box_coder.hpp"
#include "bounded_codec/rules.hpp"

namespace sidestream::bounded {

template <class Real>
using BitsOf = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

template <class T>
[[nodiscard]] T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// `Scale`: Scale or PowerScale of Real. Encodes. Predictions only decide the number of bytes: a value that would miss
/// its bound is stored unchanged.
template <class Real, class Scale>
class EncoderSide {
 public:
  /// `values`: of the box's first point. `memory`: numbers of all points.
  EncoderSide(const std::byte* values, const PointBox& box, const Lattice& lattice, double bound, BoxMemory& memory,
              Models& models, Encoder& out)
      : values_(values),
        apart_(box.step * sizeof(Real)),
        scale_(lattice),
        bound_(bound),
        inverse_(1 / static_cast<double>(lattice.step)),
        step_(lattice.step),
        numbers_(memory.numbers.data()),
        states_(memory.states.data()),
        models_(models),
        out_(out) {}

  std::uint8_t code(std::uint64_t point, std::int64_t prediction, ResidualContext& context) {
    if (out_.is_full()) return 0;
    std::int64_t& number = numbers_[point];
    if (Scale::has_states && (states_[point] & state_zero) != 0) {
      number = prediction;
      return 0;
    }
    const auto value = load<Real>(values_ + point * apart_);
    if (number != no_number) {
      const double steps = static_cast<double>(number - prediction) * inverse_;
      const auto difference = static_cast<std::int64_t>(steps + (steps < 0 ? -0.5 : 0.5));
      const std::int64_t restored = prediction + difference * step_;
      if (scale_.keeps(value, scale_.value(restored), bound_) && difference <= most_difference &&
          difference >= -most_difference) {
        put_difference(out_, difference, context, models_);
        number = restored;
        return seen_size(difference);
      }
    }
    number = prediction;
    put_exact(out_, std::bit_cast<BitsOf<Real>>(value), 8 * sizeof(Real), last_, context, models_);
    return size_of_exact;
  }

 private:
  const std::byte* values_;
  std::size_t apart_;
  Scale scale_;
  double bound_, inverse_;
  std::int64_t step_;
  std::uint64_t last_ = 0;
  std::int64_t* numbers_;
  const std::uint8_t* states_;
  Models& models_;
  Encoder& out_;
};

/// Decodes. Damaged bytes may lead anywhere, so numbers are kept within limits that sums of them cannot exceed.
template <class Real, class Scale>
class DecoderSide {
 public:
  DecoderSide(std::byte* values, const PointBox& box, const Lattice& lattice, BoxMemory& memory, Models& models,
              Decoder& in)
      : values_(values),
        apart_(box.step * sizeof(Real)),
        scale_(lattice),
        step_(lattice.step),
        numbers_(memory.numbers.data()),
        states_(memory.states.data()),
        models_(models),
        in_(in) {}

  std::uint8_t code(std::uint64_t point, std::int64_t prediction, ResidualContext& context) {
    std::int64_t difference = 0;
    std::uint8_t size = size_of_exact;
    std::int64_t restored = prediction;
    Real value{};
    if (is_zero(point)) {
      value = is_negative(point) ? -value : value;
      size = 0;
    } else if (get_difference(in_, difference, context, models_)) {
      restored = std::clamp(prediction + difference * step_, -2 * most_number, 2 * most_number);
      value = scale_.value(restored);
      if (is_negative(point)) value = -value;
      size = seen_size(difference);
    } else {
      value = std::bit_cast<Real>(static_cast<BitsOf<Real>>(get_exact(in_, 8 * sizeof(Real), last_, models_)));
    }
    numbers_[point] = restored;
    std::memcpy(values_ + point * apart_, &value, sizeof value);
    return size;
  }

 private:
  [[nodiscard]] bool is_zero(std::uint64_t point) const noexcept {
    return Scale::has_states && (states_[point] & state_zero) != 0;
  }
  [[nodiscard]] bool is_negative(std::uint64_t point) const noexcept {
    return Scale::has_states && (states_[point] & state_negative) != 0;
  }
  std::byte* values_;
  std::size_t apart_;
  Scale scale_;
  std::int64_t step_;
  std::uint64_t last_ = 0;
  std::int64_t* numbers_;
  const std::uint8_t* states_;
  Models& models_;
  Decoder& in_;
};

}  // namespace sidestream::bounded
