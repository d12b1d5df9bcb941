// Exact sums of cells of all levels in the cells of one, and their means on the servers that own its rows.
#include "cosmology/spectra/level_means.hpp"

#include <cmath>

#include "sidestream/extend/merging.hpp"
#include "sidestream/kit/mesh/lattice.hpp"
#include "sidestream/kit/mesh/owned_leaves.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"

namespace sidestream::spectra {
namespace {

/// Rows of a level's cells, along its slowest axis.
GridShape rows_of_level(const Mesh& flat) {
  std::vector<Index> extents;
  for (int a = flat.dimensions; a-- > 0;) extents.push_back(flat.cells.extent(a));
  return GridShape(std::move(extents));
}

/// Adds the cells of one variable to the cells of a level: a sum for each component, and one of the volume shares.
class CellMeans {
 public:
  CellMeans(const Mesh& mesh, std::int32_t level, const GridShape& rows, const Variable& variable)
      : mesh_(mesh),
        lattice_(mesh),
        extents_(extents(level)),
        variable_(variable),
        sums_(rows, static_cast<std::size_t>(variable.components) + 1) {}

  [[nodiscard]] Bytes of(const LocalInput& input) {
    for (const BlockView& view : input.of(variable_.id)) {
      if (view.copy || view.block.cells.empty()) continue;
      if (mesh_.kind() == MeshKind::octree) {
        add_tree(input, view);
      } else {
        for_each_counted(view, 0, [&](const Index3& p, double) { add(view, {view.block.level, p}, p); });
      }
      sums_.add_up();
    }
    return sums_.take();
  }

 private:
  static constexpr std::size_t many = std::size_t{1} << 20;

  /// Numbers of cells of a level.
  [[nodiscard]] Index3 extents(std::int32_t level) const {
    Index3 cells;
    for (std::size_t a = 0; a < 3; ++a) {
      cells[a] = lattice_.domain().extent(static_cast<int>(a)) / lattice_.steps(level)[a];
    }
    return cells;
  }

  void add_tree(const LocalInput& input, const BlockView& view) {
    const auto tree = OwnedLeaves::of(input, mesh_, view.block);
    if (!tree) return;
    tree->index().walk([](const TreeCell&) { return true; },
                       [&](Index leaf, const TreeCell& cell) {
                         if (tree->owns(leaf)) add(view, cell, {leaf, 0, 0});
                       });
  }

  /// `place`: of the cell's values in the array.
  void add(const BlockView& view, const TreeCell& cell, const Index3& place) {
    const Index3 own = extents(cell.level);
    Box part;
    double share = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const Index at = cell.index[a] - lattice_.domain().lo[a] / lattice_.steps(cell.level)[a];
      if (own[a] > extents_[a]) {
        const Index finer = own[a] / extents_[a];
        share /= static_cast<double>(finer);
        part.lo[a] = at / finer;
        part.hi[a] = part.lo[a] + 1;
      } else {
        const Index coarser = extents_[a] / own[a];
        part.lo[a] = at * coarser;
        part.hi[a] = part.lo[a] + coarser;
      }
    }
    of_cell_.clear();
    for (int c = 0; c < variable_.components; ++c) {
      of_cell_.emplace_back().add(share * number_at(view.array, place, c));
    }
    of_cell_.emplace_back().add(share);
    for (Index k = part.lo[2]; k < part.hi[2]; ++k) {
      for (Index j = part.lo[1]; j < part.hi[1]; ++j) {
        for (Index i = part.lo[0]; i < part.hi[0]; ++i) {
          sums_.add((k * extents_[1] + j) * extents_[0] + i, of_cell_);
          if (++added_ % many == 0) sums_.add_up();
        }
      }
    }
  }

  const Mesh& mesh_;
  Lattice lattice_;
  Index3 extents_;  ///< of the level
  const Variable& variable_;
  GridSums sums_;
  std::vector<ExactSum> of_cell_;
  std::size_t added_ = 0;
};

}  // namespace

Bytes sums_on_level(const LocalInput& input, const Variable& variable, std::int32_t level, const Mesh& flat) {
  const GridShape rows = rows_of_level(flat);
  return CellMeans(input.metadata.mesh_of(variable), level, rows, variable).of(input);
}

Means means_of(const std::vector<BytesView>& sums, const Mesh& flat, int components, Communicator& servers) {
  const GridShape rows = rows_of_level(flat);
  const auto slowest = static_cast<std::size_t>(flat.dimensions - 1);
  Box mine = flat.cells;
  mine.lo[slowest] = flat.cells.lo[slowest] + rows.first_row(servers.rank(), servers.size());
  mine.hi[slowest] = flat.cells.lo[slowest] + rows.first_row(servers.rank() + 1, servers.size());
  Means means{Values(mine, components), mine.count()};
  const RowsOfServer words = rows_of(sums, rows, servers);
  const auto count = static_cast<std::size_t>(components);
  for (std::size_t row = 0; row < words.size(); ++row) {
    for_each_sum(words[row], count + 1, [&](Index cell, std::span<const ExactSum> of) {
      const double share = of[count].value();
      if (!(std::fabs(share - 1) < 1e-9)) return;
      --means.missing;
      const Index n = static_cast<Index>(row) * rows.row_cells() + cell;
      const Index3 p{mine.lo[0] + n % mine.extent(0), mine.lo[1] + n / mine.extent(0) % mine.extent(1),
                     mine.lo[2] + n / mine.extent(0) / mine.extent(1)};
      for (std::size_t c = 0; c < count; ++c) means.values.at(p, static_cast<int>(c)) = of[c].value() / share;
    });
  }
  return means;
}

}  // namespace sidestream::spectra
