// The merge tree of a server's cells of an octree or of refinement levels.
#pragma once

#include <optional>

#include "cosmology/halos/amr/amr_graph.hpp"
#include "cosmology/halos/amr/cell_numbers.hpp"
#include "cosmology/halos/merge_tree/forest.hpp"
#include "cosmology/halos/merge_tree/local_tree.hpp"

namespace sidestream::halos {

/// A cell next to which others may continue; or a place that `cell` seeks, where such a cell may lie. Trivially
/// copyable; sent between servers.
struct AmrBorder {
  AmrCell place;
  ValuedCell cell, top;    ///< the cell, and the highest maximum of its component in the tree at its own level
  std::int32_t owner = 0;  ///< server that has the cell
  std::int32_t seeks = 0;
};

/// See forest.hpp. One tree of all cells; a cell is given by its index among these.
class AmrForest {
 public:
  using Cell = std::uint32_t;
  using Border = AmrBorder;
  static constexpr bool equal_cells = false;

  explicit AmrForest(AmrGraph graph) : graph_(std::move(graph)), numbers_(graph_.geometry()) {}

  [[nodiscard]] const AmrGrid& grid() const noexcept { return graph_.geometry(); }
  [[nodiscard]] const CellNumbers& numbers() const noexcept { return numbers_; }
  [[nodiscard]] std::int32_t variable() const noexcept { return graph_.variable(); }
  void build(const LocalInput& input, Built<AmrBorder>& built);
  void set_input(const LocalInput&) noexcept {}
  void clear() noexcept;
  [[nodiscard]] std::vector<ServerEdge> meet(std::vector<AmrBorder> border, Communicator& servers) const;

  [[nodiscard]] std::size_t trees() const noexcept { return 1; }
  [[nodiscard]] const std::vector<ValuedCell>& maxima(std::size_t) const noexcept { return tree_.maxima; }
  [[nodiscard]] const std::vector<Triplet>& certain(std::size_t) const noexcept { return tree_.certain; }
  template <class F>
  void for_each_cell(std::size_t, double boundary, F&& f) const {
    for (std::uint32_t n = 0; n < domain_.cells.size(); ++n) {
      if (domain_.values[n] >= boundary) f(n, domain_.values[n], tree_.numbers[n]);
    }
  }
  [[nodiscard]] Index id_of(std::uint32_t cell) const noexcept { return ids_[cell]; }
  /// `place`: a cell of the finest possible level.
  [[nodiscard]] std::optional<FoundCell> find(const Index3& place) const;

  [[nodiscard]] Bytes sum_values(const LocalInput& input) const { return graph_.sum_values(input); }
  void add(std::uint32_t cell, double value, TreeHalo& halo) const {
    const double volume = graph_.volume(domain_.cells[cell].level);
    halo.mass.add_product(value, volume);
    halo.volume.add(volume);
  }
  [[nodiscard]] double unit_volume() const noexcept { return graph_.unit_volume(); }
  /// Columns of levels and positions; for the id -1, level -1 and NaN.
  void add_places(const std::string& name, const std::vector<Index>& ids, std::vector<Column>& columns) const;
  /// Columns of levels, indices and volumes.
  void add_cells(const std::vector<Index>& ids, std::vector<Column>& columns) const;

 private:
  class Ascents;

  AmrGraph graph_;
  CellNumbers numbers_;
  AmrDomain domain_;
  std::vector<Index> ids_;
  LocalTree tree_;
};

}  // namespace sidestream::halos
