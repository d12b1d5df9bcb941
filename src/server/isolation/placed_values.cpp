#include "server/isolation/placed_values.hpp"

#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// The memory of an array: `bytes`, which begin `first` bytes (0 or less) after its data.
struct Span {
  std::int64_t first = 0;
  std::uint64_t bytes = 0;
};

Span span_of(const ArrayView& array) {
  std::int64_t low = 0, high = 0;
  for (std::size_t a = 0; a < 4; ++a) {
    const Index count = a < 3 ? array.box.hi[a] - array.box.lo[a] : array.components;
    if (count <= 0) return {};
    const Index far = (count - 1) * array.strides[a];
    (far < 0 ? low : high) += far;
  }
  const auto size = static_cast<std::int64_t>(size_of(array.type));
  return {low * size, static_cast<std::uint64_t>((high - low + 1) * size)};
}

/// The order in which an array is packed.
Order order_of(const ArrayView& array) {
  return std::abs(array.strides[0]) <= std::abs(array.strides[2]) ? Order::column : Order::row;
}

}  // namespace

ValuePlace PlacedValues::place(const ArrayView& array) {
  const Span span = span_of(array);
  if (!array.data || span.bytes == 0) return {-1, 0, 0, array.strides};
  const std::byte* const data = static_cast<const std::byte*>(array.data);
  const std::byte* const first = data + span.first;
  for (std::size_t n = 0; n < objects_.size(); ++n) {
    const SharedObject& object = objects_[n];
    const bool inside = first >= object.data && first + span.bytes <= object.data + object.bytes;
    if (inside)
      return {static_cast<std::int32_t>(n) + 1, 0, static_cast<std::uint64_t>(data - object.data), array.strides};
  }
  const std::uint64_t dense = packed_bytes(array.box, array.components, array.type);
  const bool packed = dense < span.bytes;
  const auto [known, is_new] = known_.try_emplace(Key(first, span.bytes, dense, array.strides), copies_.size());
  if (is_new) {
    copies_.push_back({array, packed, bytes_, packed ? dense : span.bytes});
    bytes_ += round_up(copies_.back().bytes, PlacedValues::alignment);
  }
  const Copy& copy = copies_[known->second];
  if (packed) return {0, 0, copy.offset, packed_strides(array.box, array.components, order_of(array))};
  return {0, 0, copy.offset + static_cast<std::uint64_t>(-span.first), array.strides};
}

void PlacedValues::copy(std::byte* to) const {
  for (const Copy& copy : copies_) {
    if (copy.packed) {
      pack(copy.array, copy.array.box, order_of(copy.array), {to + copy.offset, copy.bytes});
    } else {
      const std::byte* const first = static_cast<const std::byte*>(copy.array.data) + span_of(copy.array).first;
      std::memcpy(to + copy.offset, first, copy.bytes);
    }
  }
}

}  // namespace sidestream
