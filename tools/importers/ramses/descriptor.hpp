// What RAMSES calls the values in its files, and how they are put together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sidestream::ramses {

/// A column of a file: its name, and the letter of its type in new descriptors (`d`, `i`, `b`, ...), 0 if it has none.
struct Column {
  std::string name;
  char type = 0;
};

/// The columns of a descriptor's text: of new ones (`1, density, d`), of old ones (`variable #  1: density`). Others
/// have none.
[[nodiscard]] std::vector<Column> parse_descriptor(const std::string& text);

/// `columns` made as many as a file has: names that are missing are `PREFIX_06`, with the column's number from 1.
void fit_columns(std::vector<Column>& columns, std::size_t count, const std::string& prefix);

/// Without a descriptor: what hydrodynamics of RAMSES writes, density, velocity_x..., pressure, then scalar_01...
[[nodiscard]] std::vector<Column> hydro_columns(int dimensions, std::size_t count);
/// What gravity writes: the potential, if there is a column more than dimensions, and the acceleration.
[[nodiscard]] std::vector<Column> gravity_columns(int dimensions, std::size_t count);
/// What radiation writes: of each group of photons its density and flux.
[[nodiscard]] std::vector<Column> radiation_columns(int dimensions, std::size_t count);

/// A variable that is made of columns, in this order.
struct JoinedColumns {
  std::string name;
  std::vector<std::size_t> columns;
};
/// Columns of one type that follow each other and whose names differ in a word `x`, `y`, `z` alone become one variable
/// with two or three components, without that word; the others stay alone, as do fields on faces (`B_x_left`). Names
/// are then different from each other, and have letters, digits and underscores alone.
[[nodiscard]] std::vector<JoinedColumns> join_columns(const std::vector<Column>& columns);

}  // namespace sidestream::ramses
