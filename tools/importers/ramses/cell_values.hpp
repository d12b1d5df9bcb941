// Cell values of one domain: hydrodynamics, gravity, radiation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "importers/ramses/domain_tree.hpp"
#include "importers/ramses/output.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream::ramses {

/// The columns of one kind of files, equal in all domains.
struct CellColumns {
  FileKind kind = FileKind::hydro;
  std::vector<Column> columns;
  std::vector<JoinedColumns> variables;  ///< variables made of the columns
  Type type = Type::float64;
  double gamma = 0;    ///< adiabatic index in files of hydrodynamics; 0: unknown
  std::string remark;  ///< explains names that are not from a descriptor; empty if they are
};

/// Reads the columns from the descriptor and the file of the first domain that has it. Throws Error(file).
[[nodiscard]] CellColumns cell_columns(const Output& output, FileKind kind);

/// All values of a domain: for each of `columns.variables` an array over the tree's cells, of `columns.type`, with
/// components interleaved. The files have no values of coarse cells: these get the mean of their children (the sum in
/// order divided by their number), or 0 without children. Throws Error(file).
[[nodiscard]] std::vector<std::vector<std::byte>> read_cell_values(const Output& output, const CellColumns& columns,
                                                                   int domain, const DomainTree& tree);

}  // namespace sidestream::ramses
