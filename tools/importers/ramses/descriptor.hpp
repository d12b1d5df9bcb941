// Names of the values in RAMSES' files, and their composition from columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sidestream::ramses {

/// A column of a file: its name, and the letter of its type in new descriptors (`d`, `i`, `b`, ...), 0 without.
struct Column {
  std::string name;
  char type = 0;
};

/// Parses the columns of a descriptor: new (`1, density, d`) or old (`variable #  1: density`). Empty for other texts.
[[nodiscard]] std::vector<Column> parse_descriptor(const std::string& text);

/// Extends or cuts `columns` to the number in a file. Missing names become `PREFIX_06`, with the column's number from
/// 1.
void fit_columns(std::vector<Column>& columns, std::size_t count, const std::string& prefix);

/// Default columns of hydrodynamics, without a descriptor: density, velocity_x..., pressure, then scalar_01...
[[nodiscard]] std::vector<Column> hydro_columns(int dimensions, std::size_t count);
/// Columns of gravity: the potential, if there are more columns than dimensions, and the acceleration.
[[nodiscard]] std::vector<Column> gravity_columns(int dimensions, std::size_t count);
/// Columns of radiation: density and flux of each photon group.
[[nodiscard]] std::vector<Column> radiation_columns(int dimensions, std::size_t count);

/// A variable that is made of columns, in this order.
struct JoinedColumns {
  std::string name;
  std::vector<std::size_t> columns;
};
/// Joins consecutive columns of one type whose names only differ in a word `x`, `y`, `z`. They become a variable with
/// two or three components, without that word in its name. Other columns become variables of their own, as do fields on
/// faces (`B_x_left`). The resulting names are unique and only have letters, digits and underscores.
[[nodiscard]] std::vector<JoinedColumns> join_columns(const std::vector<Column>& columns);

}  // namespace sidestream::ramses
