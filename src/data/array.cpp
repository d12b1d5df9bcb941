#include "sidestream/data/array.hpp"

#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

std::array<Index, 4> packed_strides(const Box& box, int components, Order order) noexcept {
  const Index c = components;
  if (order == Order::column) return {c, c * box.extent(0), c * box.extent(0) * box.extent(1), 1};
  return {c * box.extent(2) * box.extent(1), c * box.extent(2), c, 1};
}

std::uint64_t packed_bytes(const Box& box, int components, Type type) {
  const auto points = static_cast<std::uint64_t>(box.count());
  return checked_multiply(checked_multiply(points, static_cast<std::uint64_t>(components)),
                          static_cast<std::uint64_t>(size_of(type)));
}

namespace {

template <class T>
void copy_rows(const ArrayView& array, int c, const Box& region, double* out, const Box& target) {
  const Index ni = region.extent(0), stride = array.strides[0];
  for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
    for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
      const T* from = array.at<T>(region.lo[0], j, k, c);
      double* to = out + ((k - target.lo[2]) * target.extent(1) + (j - target.lo[1])) * target.extent(0) +
                   (region.lo[0] - target.lo[0]);
      for (Index i = 0; i < ni; ++i) to[i] = static_cast<double>(from[i * stride]);
    }
  }
}

/// Copies elements of N bytes along the three axes, fastest axis of the target innermost.
template <std::size_t N>
void pack_elements(const ArrayView& array, const Box& region, Order order, std::byte* out) {
  const int fast = order == Order::column ? 0 : 2, slow = 2 - fast;
  const auto* base = static_cast<const std::byte*>(array.data);
  const auto address = [&](Index a, Index j, Index b) {
    const Index i = fast == 0 ? a : b, k = fast == 0 ? b : a;
    return base + ((i - array.box.lo[0]) * array.strides[0] + (j - array.box.lo[1]) * array.strides[1] +
                   (k - array.box.lo[2]) * array.strides[2]) *
                      static_cast<Index>(N);
  };
  const Index n = region.extent(fast), c = array.components;
  const Index step = array.strides[fast];
  const bool contiguous = step == c && (c == 1 || array.strides[3] == 1);
  for (Index b = region.lo[slow]; b < region.hi[slow]; ++b) {
    for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
      const std::byte* from = address(region.lo[fast], j, b);
      if (contiguous) {
        std::memcpy(out, from, static_cast<std::size_t>(n * c) * N);
        out += static_cast<std::size_t>(n * c) * N;
        continue;
      }
      for (Index a = 0; a < n; ++a) {
        for (Index m = 0; m < c; ++m) {
          std::memcpy(out, from + (a * step + m * array.strides[3]) * static_cast<Index>(N), N);
          out += N;
        }
      }
    }
  }
}

}  // namespace

void copy_to_double(const ArrayView& array, int c, const Box& region, double* out, const Box& target) {
  if (region.empty()) return;
  with_type(array.type, [&](auto zero) { copy_rows<decltype(zero)>(array, c, region, out, target); });
}

void pack(const ArrayView& array, const Box& region, Order order, std::span<std::byte> out) {
  if (region.empty()) return;
  const std::uint64_t needed = packed_bytes(region, array.components, array.type);
  if (out.size() < needed) fail(Code::internal, "pack: {} bytes given, {} needed", out.size(), needed);
  switch (size_of(array.type)) {
    case 1:
      return pack_elements<1>(array, region, order, out.data());
    case 2:
      return pack_elements<2>(array, region, order, out.data());
    case 4:
      return pack_elements<4>(array, region, order, out.data());
    default:
      return pack_elements<8>(array, region, order, out.data());
  }
}

}  // namespace sidestream
