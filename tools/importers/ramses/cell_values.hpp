// Values in the cells of one domain: hydrodynamics, gravity, radiation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "importers/ramses/domain_tree.hpp"
#include "importers/ramses/output.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream::ramses {

/// What one kind of files has: the same in all domains.
struct CellColumns {
  FileKind kind = FileKind::hydro;
  std::vector<Column> columns;
  std::vector<JoinedColumns> variables;  ///< made of them
  Type type = Type::float64;
  double gamma = 0;    ///< of the gas, as files of hydrodynamics say; 0: not known
  std::string remark;  ///< where names are not those of a descriptor; empty: they are
};

/// From the file of the first domain that has it and the descriptor. Throws Error(file).
[[nodiscard]] CellColumns cell_columns(const Output& output, FileKind kind);

/// All values of a domain: for each of `columns.variables` an array over the tree's cells, components next to each
/// other, of `columns.type`. The files have none of coarse cells: theirs are the mean of their children, the children's
/// sum in order divided by their number; 0 where they have none. Throws Error(file).
[[nodiscard]] std::vector<std::vector<std::byte>> read_cell_values(const Output& output, const CellColumns& columns,
                                                                   int domain, const DomainTree& tree);

}  // namespace sidestream::ramses
