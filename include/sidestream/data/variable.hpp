// What a variable is: its mesh, centring, type, unit.
#pragma once

#include <cstdint>
#include <string>

#include "sidestream/data/array.hpp"
#include "sidestream/data/box.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream {

/// Where on the mesh the values sit.
enum class Centering : std::int32_t { cell = 0, node = 1 };

/// The points of that centring in a box of cells: the cells themselves, or their corners (one more on each axis).
[[nodiscard]] constexpr Box points_of(Centering centering, const Box& cells) noexcept {
  if (centering == Centering::cell || cells.empty()) return cells;
  Box box = cells;
  for (auto& h : box.hi) ++h;
  return box;
}

/// One declared variable. Ids count variables in the order of declaration, the same on every process.
struct Variable {
  std::int32_t id = -1;
  std::string name;
  std::int32_t mesh = -1;  ///< id of its mesh
  Type type = Type::float64;
  Centering centering = Centering::cell;
  std::int32_t components = 1;
  Order order = Order::column;
  bool time_varying = true;  ///< false: published once, kept until published again
  std::string unit;          ///< as text, for labels and files; empty if dimensionless or unknown
  std::string label;         ///< for people; empty: the name
  std::string group;         ///< folder in files; empty: none

  [[nodiscard]] const std::string& title() const noexcept { return label.empty() ? name : label; }
  /// Its points in a box of cells.
  [[nodiscard]] Box points(const Box& cells) const noexcept { return points_of(centering, cells); }
};

}  // namespace sidestream
