// A view of one block's values in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "sidestream/data/box.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream {

/// The memory that holds an array. Only host memory is used today: publishing accepts no device addresses.
enum class MemorySpace : std::int32_t { host = 0, device = 1 };

/// The index that runs fastest in memory. `column` means i (Fortran; a C array indexed [k][j][i]); `row` means k (a C
/// array indexed [i][j][k]). Components of a point are always next to each other.
enum class Order : std::int32_t { column = 0, row = 1 };

/// Describes an array owned by other code; copying the view does not copy values. Plug-ins receive it by value inside
/// other structures, so a size member could not tell them where the next member begins. Instead, the interface hash of
/// extend/plugin.hpp rejects plug-ins that were built with another layout. Element (i, j, k, c) is at data +
/// size_of(type) * ((i
/// - box.lo[0]) * strides[0] + (j - box.lo[1]) * strides[1] + (k - box.lo[2]) * strides[2] + c * strides[3]).
struct ArrayView {
  const void* data = nullptr;
  Type type = Type::float64;
  MemorySpace space = MemorySpace::host;
  Box box;  ///< the indices the array covers
  std::int32_t components = 1;
  std::array<Index, 4> strides{1, 0, 0, 0};  ///< in elements: i, j, k, component

  /// Pointer to element (i, j, k, c). T must be the type of the array; the index must lie in `box`.
  template <class T>
  [[nodiscard]] const T* at(Index i, Index j, Index k, int c = 0) const noexcept {
    return static_cast<const T*>(data) + (i - box.lo[0]) * strides[0] + (j - box.lo[1]) * strides[1] +
           (k - box.lo[2]) * strides[2] + c * strides[3];
  }
};

/// Strides of a contiguous array over `box` in `order` with `components` interleaved components.
[[nodiscard]] std::array<Index, 4> packed_strides(const Box& box, int components, Order order) noexcept;

/// Bytes of a contiguous array. Throws Error on 64-bit overflow.
[[nodiscard]] std::uint64_t packed_bytes(const Box& box, int components, Type type);

/// Copies component `c` of `region` (inside `array.box`) as doubles into `out`, which covers `target` contiguously with
/// i fastest. `region` must lie inside `target` too; other elements of `out` are left unchanged. 64-bit integers beyond
/// 2^53 are rounded.
void copy_to_double(const ArrayView& array, int c, const Box& region, double* out, const Box& target);

#if __cplusplus >= 202002L  // programs that publish may include this header with C++17
/// Copies all components of `region` from `array` into a contiguous array over `region`, of the same type, in `order`.
/// `out` has packed_bytes(region, ...) bytes.
void pack(const ArrayView& array, const Box& region, Order order, std::span<std::byte> out);
#endif

}  // namespace sidestream
