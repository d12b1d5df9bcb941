// One RAMSES domain: its tree as a block of an octree mesh, and the values of its cells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "importers/ramses/amr_file.hpp"
#include "importers/ramses/output.hpp"
#include "sidestream/data/box.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream::ramses {

/// Breadth first over the coarse cells inside the boundary. Levels have the same numbers as in RAMSES.
struct DomainTree {
  std::vector<std::uint8_t> refined, owned;  ///< flags of each cell
  std::vector<Index> first;                  ///< the first cell of each level, then the number of cells
  /// By level from 1 on: for each oct of the file its number in the level of the tree, or `outside` beyond the
  /// boundary. Its cells are first[level] + 2^d * number, x fastest.
  std::vector<std::vector<std::uint32_t>> places;
  AmrHeader header;
  static constexpr std::uint32_t outside = UINT32_MAX;

  [[nodiscard]] Index cells() const noexcept { return static_cast<Index>(refined.size()); }
  [[nodiscard]] int levels() const noexcept {
    return static_cast<int>(first.size()) - 2;
  }  ///< level of the deepest
     ///< cell
};

/// The coarse cells inside the boundary, of all domains: those that contain octs of domains. Reads the headers of all
/// files `amr`. Throws Error(file).
[[nodiscard]] Box inner_coarse_cells(const Output& output);

/// The tree of domain `domain`, from 1. A cell is owned if its oct is in the domain's own list, which is how RAMSES'
/// own tools count leaves. Throws Error(file), also if octs have no parent or overlap.
[[nodiscard]] DomainTree read_tree(const Output& output, int domain, const Box& coarse);

// Cell values of one domain: hydrodynamics, gravity, radiation.

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
