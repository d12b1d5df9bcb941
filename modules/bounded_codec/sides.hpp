// The two sides of walk(): one encodes the points of a box, the other decodes them.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "bounded_codec/box_coder.hpp"
#include "bounded_codec/put_difference.hpp"
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
        sizes_(memory.sizes.data()),
        states_(memory.states.data()),
        models_(models),
        out_(out) {}

  void code(const Line& line, std::uint32_t context) {
    if (out_.lacks(most_line_bytes)) return;
    find_differences(line);
    put(line, context);
  }
  static constexpr std::ptrdiff_t most_line_bytes = most_value_bytes * Line::most;

 private:
  [[nodiscard]] bool is_zero(std::uint64_t point) const noexcept {
    return Scale::has_states && (states_[point] & state_zero) != 0;
  }
  [[nodiscard]] Real value_of(std::uint64_t point) const noexcept { return load<Real>(values_ + point * apart_); }

  /// Sets the number and the size that later points see, and the differences of a line. Members are read once: stores
  /// of bytes might change them, as far as the compiler knows.
  [[gnu::noinline]] void find_differences(const Line& line) noexcept {
    const Scale scale = scale_;
    const double inverse = inverse_, bound = bound_;
    const std::int64_t unit_step = step_;
    std::int64_t* number = numbers_ + line.first;
    std::uint8_t* size = sizes_ + line.first;
    const std::byte* from = values_ + line.first * apart_;
    const std::uint64_t count = line.count, step = line.step, bytes = line.step * apart_;
    for (std::uint64_t n = 0; n < count; ++n, number += step, size += step, from += bytes) {
      const std::int64_t prediction = line.predictions[n], known = *number;
      *number = prediction;
      *size = is_zero(line.first + n * step) ? 0 : size_of_exact;
      if (known == no_number) continue;
      const double steps = static_cast<double>(known - prediction) * inverse;
      const auto difference = static_cast<std::int64_t>(steps + std::copysign(0.5, steps));
      const std::int64_t restored = prediction + difference * unit_step;
      if (!scale.keeps(load<Real>(from), scale.value(restored), bound)) continue;
      if (difference > most_difference || difference < -most_difference) continue;
      differences_[n] = static_cast<std::int32_t>(difference);
      *size = seen_size(difference);
      *number = restored;
    }
  }

  [[gnu::noinline]] void put(const Line& line, std::uint32_t context) noexcept {
    Encoder out = out_;
    Models& models = models_;
    const std::uint8_t* size = sizes_ + line.first;
    const std::uint64_t count = line.count, step = line.step;
    const std::uint32_t left_factor = line.left_factor;
    std::uint32_t left = line.left;
    for (std::uint64_t n = 0; n < count; ++n, size += step) {
      const std::uint32_t activity = line.activities[n] + left_factor * left;
      const std::uint32_t own = context + activity_class(activity) * Models::of_context;
      left = *size;
      if (left == size_of_exact) {
        const Real value = value_of(line.first + n * step);
        out = put_exact(out, std::bit_cast<BitsOf<Real>>(value), 8 * sizeof(Real), last_, own, models);
      } else if (!is_zero(line.first + n * step)) {
        put_difference(out, differences_[n], own, models);
      }
    }
    out_ = out;
  }

  const std::byte* values_;
  std::size_t apart_;
  Scale scale_;
  double bound_, inverse_;
  std::int64_t step_;
  std::uint64_t last_ = 0;
  std::int64_t* numbers_;
  std::uint8_t* sizes_;
  const std::uint8_t* states_;
  Models& models_;
  Encoder& out_;
  std::array<std::int32_t, Line::most> differences_;
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
        sizes_(memory.sizes.data()),
        states_(memory.states.data()),
        models_(models),
        in_(in) {}

  void code(const Line& line, std::uint32_t context) {
    Decoder in = in_;
    Models& models = models_;
    const Scale scale = scale_;
    std::int64_t* number = numbers_ + line.first;
    std::uint8_t* size = sizes_ + line.first;
    std::byte* to = values_ + line.first * apart_;
    const std::int64_t unit_step = step_;
    const std::uint64_t count = line.count, step = line.step, bytes = line.step * apart_;
    const std::uint32_t left_factor = line.left_factor;
    std::uint32_t left = line.left;
    for (std::uint64_t n = 0; n < count; ++n, number += step, size += step, to += bytes) {
      const std::uint32_t activity = line.activities[n] + left_factor * left;
      const std::uint32_t own = context + activity_class(activity) * Models::of_context;
      const std::uint64_t point = line.first + n * step;
      const std::int64_t prediction = line.predictions[n];
      std::int64_t difference = 0, restored = prediction;
      Real value{};
      left = size_of_exact;
      if (is_zero(point)) {
        value = is_negative(point) ? -value : value;
        left = 0;
      } else if (get_difference(in, difference, own, models)) {
        restored = std::clamp(prediction + difference * unit_step, -2 * most_number, 2 * most_number);
        value = scale.value(restored);
        if (is_negative(point)) value = -value;
        left = seen_size(difference);
      } else {
        in = get_exact(in, 8 * sizeof(Real), last_, models);
        value = std::bit_cast<Real>(static_cast<BitsOf<Real>>(last_));
      }
      *number = restored;
      *size = static_cast<std::uint8_t>(left);
      std::memcpy(to, &value, sizeof value);
    }
    in_ = in;
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
  std::uint8_t* sizes_;
  const std::uint8_t* states_;
  Models& models_;
  Decoder& in_;
};

}  // namespace sidestream::bounded
