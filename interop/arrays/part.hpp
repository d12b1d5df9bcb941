// A part of a named array, as a program writes it in one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sidestream/data/box.hpp>
#include <sidestream/data/type.hpp>
#include <string>
#include <vector>

namespace sidestream::arrays {

/// A box of a global array, or with an empty shape an array of this rank only. All axes are listed from the slowest to
/// the fastest one. Refers to the program's memory.
struct Part {
  std::string name;
  Type type = Type::float64;
  std::vector<Index> shape;         ///< of the whole array, the same on every rank
  std::vector<Index> start;         ///< of the part in the whole
  std::vector<Index> count;         ///< of the part; may have zeros
  const std::byte* data = nullptr;  ///< the first value
  std::vector<Index> strides{};     ///< in bytes, for each axis; empty: contiguous

  [[nodiscard]] bool is_global() const noexcept { return !shape.empty(); }
  /// Number of values. Call check_part before.
  [[nodiscard]] std::size_t values() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return values() * size_of(type); }
};

/// Says in one sentence why a part cannot be used; empty if it can.
[[nodiscard]] std::string problem_of(const Part& part);

/// Distances in bytes along each axis, also of a contiguous part.
[[nodiscard]] std::vector<Index> strides_of(const Part& part);

/// Copies values to the memory that `to` refers to, which can be written and has the same count and type.
void copy_values(const Part& from, const Part& to);

/// The part's values, contiguous.
[[nodiscard]] std::vector<std::byte> packed(const Part& part);

}  // namespace sidestream::arrays
