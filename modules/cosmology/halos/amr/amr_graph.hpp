// Cells of an octree, or of patches on refinement levels, as a graph: each piece is one cell.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosmology/halos/amr/amr_blocks.hpp"
#include "cosmology/halos/finder/history.hpp"
#include "cosmology/halos/finder/local_components.hpp"
#include "cosmology/halos/finder/merge_components.hpp"

namespace sidestream::halos {

/// A cell next to which another server may continue, and its part. With ~part: a place at which that part continues if
/// any server has the cell. Trivially copyable; sent between servers.
struct BoundaryAmrCell {
  AmrCell cell;
  std::int64_t part = 0;
};

/// The view that has a cell, by its index among this server's, and the index of the cell in its arrays.
struct AmrSource {
  std::uint32_t view = 0;
  Index3 place{};
};

/// This server's cells above a threshold, of all its blocks together.
struct AmrDomain {
  std::vector<AmrCell> cells;
  std::vector<double> values;
  std::vector<std::uint32_t> views;
  std::vector<Index3> places;  ///< empty unless requested
  std::vector<std::uint32_t> sets_of_cells;
  std::size_t count_of_sets = 0;
  std::vector<BoundaryAmrCell> boundary_cells;

  [[nodiscard]] const std::vector<AmrCell>& pieces() const noexcept { return cells; }
  [[nodiscard]] const std::vector<std::uint32_t>& sets() const noexcept { return sets_of_cells; }
  [[nodiscard]] std::size_t set_count() const noexcept { return count_of_sets; }
  [[nodiscard]] const std::vector<BoundaryAmrCell>& boundary() const noexcept { return boundary_cells; }
  [[nodiscard]] AmrSource source(std::uint32_t n) const { return {views[n], places[n]}; }
  [[nodiscard]] const AmrCell& first_cell(std::uint32_t n) const noexcept { return cells[n]; }
  template <class F>
  void for_each_cell(std::uint32_t n, F&& f) const {
    f(cells[n], values[n]);
  }
};

/// See cell_graph.hpp. Lengths are half steps of the finest possible level.
class AmrGraph {
 public:
  using Cell = AmrCell;
  using Id = AmrId;
  using Piece = AmrCell;
  using Source = AmrSource;
  using Domain = AmrDomain;
  using BoundaryPiece = BoundaryAmrCell;
  using HaloSums = AmrHaloSums;
  using PartSums = AmrPartSums;
  using MergedSums = AmrMergedSums;
  using Location = AmrCell;  ///< of the finest possible level
  static constexpr bool equal_cells = false;

  /// This server's blocks, for visits of the cells near halos.
  class Blocks {
   public:
    Blocks(const AmrGraph& graph, const LocalInput& input);
    /// Calls `f(level, squared, place)` for the cells of a view that are near.
    void for_each_near(std::size_t view, const Distances<AmrGrid>& distances, const AmrBlock::NearVisit& f) const {
      if (blocks_[view]) blocks_[view]->for_each_near(distances, f);
    }
    /// True if the counted cell that contains `cell`, of the finest possible level, is in one of the blocks. Starts
    /// with the block of the last call, since particles that are neighbours in memory are mostly in one block.
    [[nodiscard]] bool have(const AmrCell& cell);

   private:
    std::vector<std::unique_ptr<AmrBlock>> blocks_;  ///< null for views without counted cells
    std::size_t last_ = 0;
  };

  /// Finds the cells of particles. Returns none for particles outside the mesh, and in cells on this server that are in
  /// no component.
  class ParticleFilter {
   public:
    using Location = AmrCell;
    ParticleFilter(const AmrGraph& graph, const LocalInput& input, double threshold,
                   const std::vector<NumberedPiece<AmrCell>>& owned);
    [[nodiscard]] std::optional<AmrCell> location_of(const std::array<double, 3>& x);

   private:
    const AmrGrid& grid_;
    std::vector<AmrCell> cells_;
    CellIndex index_;
    Blocks blocks_;
  };

  /// Finds the halo of a cell of the finest possible level.
  class HaloLookup {
   public:
    HaloLookup(const AmrGraph& graph, const std::vector<HaloPiece<AmrCell, AmrId>>& pieces);
    [[nodiscard]] AmrId halo_at(const AmrCell& cell) const;

   private:
    const AmrGrid& grid_;
    const std::vector<HaloPiece<AmrCell, AmrId>>& pieces_;
    std::vector<AmrCell> cells_;
    CellIndex index_;
  };

  using Owners = CellOwners;

  AmrGraph(const Mesh& mesh, int connectivity, const Variable& variable, int component)
      : mesh_(std::make_shared<Mesh>(mesh)),
        grid_(*mesh_, connectivity),
        variable_(variable.id),
        component_(component),
        name_(variable.name) {}

  [[nodiscard]] const AmrGrid& geometry() const noexcept { return grid_; }
  [[nodiscard]] std::int32_t variable() const noexcept { return variable_; }
  [[nodiscard]] int component() const noexcept { return component_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int dimensions() const noexcept { return grid_.dimensions(); }
  [[nodiscard]] double unit_volume() const noexcept { return grid_.unit_volume(); }
  [[nodiscard]] double whole_volume() const noexcept { return grid_.whole_volume(); }
  [[nodiscard]] double volume(std::int32_t level) const { return grid_.volume(level); }

  [[nodiscard]] AmrId id_of(const AmrCell& cell) const { return grid_.id_of(cell); }
  [[nodiscard]] AmrCell cell_of(const AmrId& id) const { return grid_.cell_of(id); }
  [[nodiscard]] static std::int32_t level_of(const AmrCell& cell) noexcept { return cell.level; }
  [[nodiscard]] static const Index3& index_of(const AmrCell& cell) noexcept { return cell.index; }
  /// Indices in the mesh's numbering.
  [[nodiscard]] Index3 in_mesh(const AmrCell& cell) const { return grid_.in_mesh(cell).index; }
  [[nodiscard]] double position(std::size_t axis, const AmrCell& cell, double half_steps, bool wrapped) const {
    return grid_.position(axis, cell, half_steps, wrapped);
  }

  [[nodiscard]] Bytes sum_values(const LocalInput& input) const;
  /// Counted cells are those on the finest level at their place.
  void for_each_domain(const LocalInput& input, double threshold, bool keep,
                       const std::function<void(const AmrDomain&)>& f) const;
  [[nodiscard]] std::vector<PartPair> meetings(const std::vector<BoundaryAmrCell>& boundary, const PartNumbers& numbers,
                                               Communicator& servers) const;
  template <class F>
  void for_each_cell(const AmrCell& cell, const AmrSource& source, F&& f) const {
    f(cell.level, cell.index, source.place);
  }
  /// Cells that halos of two iterations share. If one of two cells contains the other, the finer one is counted, on its
  /// home server.
  [[nodiscard]] std::vector<Overlap<AmrId>> overlaps(const std::vector<HaloPiece<AmrCell, AmrId>>& before,
                                                     const std::vector<HaloPiece<AmrCell, AmrId>>& now,
                                                     const CellOwners& owners, int server) const;

  /// Halos on levels have no linear index.
  [[nodiscard]] std::vector<Index> indices_of(const std::vector<Halo<AmrId>>& halos) const {
    return std::vector<Index>(halos.size());
  }
  [[nodiscard]] Column first_peak_column(const std::vector<Halo<AmrId>>& halos) const;
  [[nodiscard]] std::vector<Column> peak_columns(const std::vector<AmrId>& peaks) const;
  /// Writes a data set of lists with an entry for each cell that belongs to a halo: its `level`, its indices in the
  /// mesh's numbering (`i`, `j`, `k`), the number of its halo. Collective. Sorted by level, then k, j, i, independent
  /// of the division of cells among servers; each server has an equal share.
  void write_labels(const LabelQuery& query, const std::vector<NumberedPiece<AmrCell>>& cells,
                    const CombineInput& input) const;

 private:
  std::shared_ptr<const Mesh> mesh_;  ///< referred to by the grid
  AmrGrid grid_;
  std::int32_t variable_;
  int component_;
  std::string name_;
};

static_assert(CellGraph<AmrGraph>);

/// The graph that the options `variable`, `component` and `connectivity` name. Throws Error(configuration) for meshes
/// and variables that `what` does not support.
[[nodiscard]] AmrGraph read_amr_graph(const Settings& settings, const Metadata& metadata, const std::string& what);

}  // namespace sidestream::halos
