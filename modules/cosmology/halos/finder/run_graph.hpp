// Cells of a uniform mesh of one level as a graph: pieces are runs of cells along rows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cosmology/halos/finder/box_runs.hpp"
#include "cosmology/halos/finder/distances.hpp"
#include "cosmology/halos/finder/halo_options.hpp"
#include "cosmology/halos/finder/history.hpp"
#include "cosmology/halos/finder/local_components.hpp"
#include "cosmology/halos/finder/merge_components.hpp"
#include "cosmology/halos/finder/run_sums.hpp"
#include "sidestream/kit/data/block_index.hpp"

namespace sidestream::halos {

/// A run at the border of a box, whose neighbours may lie in other boxes.
struct BoundaryRun {
  Run run;
  std::int64_t part = 0;
};

/// The view that has a run, by its index among this server's.
struct RunSource {
  std::uint32_t view = 0;
};

/// A cell of a row. Trivially copyable; sent between servers.
struct RowPlace {
  Index row = 0, place = 0;
};

/// The runs of one box of a block. Refers to its arguments.
class RunDomain {
 public:
  RunDomain(const BlockView& view, std::uint32_t number, const Box& box, const Lattice& lattice, const Rule& rule);

  [[nodiscard]] const std::vector<Run>& pieces() const noexcept { return found_.runs; }
  [[nodiscard]] const std::vector<std::uint32_t>& sets() const noexcept { return found_.sets; }
  [[nodiscard]] std::size_t set_count() const noexcept { return found_.set_count; }
  [[nodiscard]] const std::vector<BoundaryRun>& boundary() const noexcept { return boundary_; }
  [[nodiscard]] RunSource source(std::uint32_t) const noexcept { return {number_}; }
  [[nodiscard]] Index3 first_cell(std::uint32_t n) const noexcept {
    return lattice_.cell_in(found_.runs[n].row, found_.runs[n].first);
  }
  /// Calls `f(cell, value)` for each cell of a run.
  template <class F>
  void for_each_cell(std::uint32_t n, F&& f) const {
    const Run& run = found_.runs[n];
    Index3 cell = lattice_.cell_in(run.row, run.first), p = cell;
    for (std::size_t a = 0; a < 3; ++a) p[a] += lattice_.origin[a];
    const Index stride = view_.array.strides[lattice_.along];
    with_type(view_.array.type, [&](auto zero) {
      const auto* value = view_.array.at<decltype(zero)>(p[0], p[1], p[2], component_);
      for (; cell[lattice_.along] <= run.last; ++cell[lattice_.along], value += stride) {
        f(cell, static_cast<double>(*value));
      }
    });
  }

 private:
  const BlockView& view_;
  std::uint32_t number_;
  const Lattice& lattice_;
  int component_;
  BoxRuns found_;
  std::vector<BoundaryRun> boundary_;
};

/// See cell_graph.hpp. Lengths are in cells.
class RunGraph {
 public:
  using Cell = Index3;
  using Id = Index;  ///< the linear index
  using Piece = Run;
  using Source = RunSource;
  using Domain = RunDomain;
  using BoundaryPiece = BoundaryRun;
  using HaloSums = RunHaloSums;
  using PartSums = RunPartSums;
  using MergedSums = RunMergedSums;
  using Location = RowPlace;
  static constexpr bool equal_cells = true;

  /// This server's blocks, for visits of the cells near halos.
  class Blocks {
   public:
    Blocks(const RunGraph& graph, const LocalInput& input);
    /// Calls `f(level, squared, place)` for the cells of a view that are near.
    template <class F>
    void for_each_near(std::size_t view, const Distances<Field>& distances, F&& f) const {
      for (const Box& box : boxes_[view]) {
        distances.for_each_near(views_[view], box, 0, origin_,
                                [&](double squared, const Index3& place) { f(0, squared, place); });
      }
    }

   private:
    const std::vector<BlockView>& views_;
    Index3 origin_;
    std::vector<std::vector<Box>> boxes_;
  };

  /// Finds the cells of particles. Returns none for particles outside the mesh, and in cells on this server below the
  /// threshold.
  class ParticleFilter {
   public:
    using Location = RowPlace;
    ParticleFilter(const RunGraph& graph, const LocalInput& input, double threshold,
                   const std::vector<NumberedPiece<Run>>& owned);
    [[nodiscard]] std::optional<RowPlace> location_of(const std::array<double, 3>& x);

   private:
    [[nodiscard]] bool surely_below(Index3 cell);
    [[nodiscard]] const BlockView* view_of(const Index3& cell);

    const Field& field_;
    double threshold_;
    const std::vector<BlockView>& views_;
    BlockIndex index_;
    std::vector<std::int64_t> found_;
    const BlockView* last_ = nullptr;
  };

  /// Every row of the mesh is kept by one server.
  class Owners {
   public:
    Owners(const RunGraph& graph, int servers) : lattice_(graph.lattice()), servers_(servers) {}
    [[nodiscard]] std::array<int, 1> keepers_of(const Run& run) const { return {lattice_.keeper(run.row, servers_)}; }
    [[nodiscard]] int home_of(const RowPlace& cell) const { return lattice_.keeper(cell.row, servers_); }

   private:
    const Lattice& lattice_;
    int servers_;
  };

  /// Finds the halo of a cell by binary search among runs in order.
  class HaloLookup {
   public:
    HaloLookup(const RunGraph&, const std::vector<HaloPiece<Run, Index>>& runs) : runs_(runs) {}
    [[nodiscard]] Index halo_at(const RowPlace& cell) const;

   private:
    const std::vector<HaloPiece<Run, Index>>& runs_;
  };

  explicit RunGraph(Field field) : field_(std::move(field)), steps_(row_steps(field_.connectivity)) {}

  [[nodiscard]] const Field& geometry() const noexcept { return field_; }
  [[nodiscard]] const Lattice& lattice() const noexcept { return field_.lattice; }
  [[nodiscard]] std::int32_t variable() const noexcept { return field_.variable; }
  [[nodiscard]] int component() const noexcept { return field_.component; }
  [[nodiscard]] const std::string& name() const noexcept { return field_.name; }
  [[nodiscard]] int dimensions() const noexcept { return field_.lattice.dimensions; }
  [[nodiscard]] double unit_volume() const noexcept { return field_.cell_volume(); }
  [[nodiscard]] double whole_volume() const noexcept {
    return unit_volume() * static_cast<double>(field_.lattice.cells());
  }
  [[nodiscard]] static double volume(std::int32_t) noexcept { return 1; }

  [[nodiscard]] Index id_of(const Index3& cell) const noexcept { return field_.lattice.id_of(cell); }
  [[nodiscard]] Index3 cell_of(Index id) const noexcept { return field_.lattice.cell_of(id); }
  [[nodiscard]] static std::int32_t level_of(const Index3&) noexcept { return 0; }
  [[nodiscard]] static const Index3& index_of(const Index3& cell) noexcept { return cell; }
  /// Indices in the mesh's numbering.
  [[nodiscard]] Index3 in_mesh(Index3 cell) const noexcept {
    for (std::size_t a = 0; a < 3; ++a) cell[a] += field_.lattice.origin[a];
    return cell;
  }
  [[nodiscard]] double position(std::size_t axis, const Index3& cell, double cells, bool) const noexcept {
    return field_.position(axis, cell[axis], cells);
  }

  [[nodiscard]] Bytes sum_values(const LocalInput& input) const {
    return halos::sum_values(input.of(field_.variable), field_.component);
  }
  void for_each_domain(const LocalInput& input, double threshold, bool keep,
                       const std::function<void(const RunDomain&)>& f) const;
  [[nodiscard]] std::vector<PartPair> meetings(const std::vector<BoundaryRun>& boundary, const PartNumbers& numbers,
                                               Communicator& servers) const;
  /// Calls `f(level, cell, place)` for each cell of a run; `place`: its index in the block's arrays.
  template <class F>
  void for_each_cell(const Run& run, const RunSource&, F&& f) const {
    const std::size_t along = field_.lattice.along;
    Index3 cell = field_.lattice.cell_in(run.row, run.first);
    for (; cell[along] <= run.last; ++cell[along]) f(0, cell, in_mesh(cell));
  }
  /// Cells that halos of two iterations share. Both lists must be in order.
  [[nodiscard]] std::vector<Overlap<Index>> overlaps(const std::vector<HaloPiece<Run, Index>>& before,
                                                     const std::vector<HaloPiece<Run, Index>>& now, const Owners&,
                                                     int server) const;

  [[nodiscard]] std::vector<Index> indices_of(const std::vector<Halo<Index>>& halos) const;
  [[nodiscard]] Column first_peak_column(const std::vector<Halo<Index>>& halos) const {
    return {"peak_index", indices_of(halos)};
  }
  [[nodiscard]] std::vector<Column> peak_columns(const std::vector<Index>& peaks) const {
    return {{"peak_index", peaks}};
  }
  void write_labels(const LabelQuery& query, const std::vector<NumberedPiece<Run>>& runs,
                    const CombineInput& input) const {
    halos::write_labels(query, field_, runs, input);
  }

 private:
  Field field_;
  std::vector<RowStep> steps_;
};

static_assert(CellGraph<RunGraph>);

}  // namespace sidestream::halos
