// The trees of a server's boxes of a uniform mesh.
#pragma once

#include <optional>
#include <span>

#include "cosmology/halos/finder/halo_options.hpp"
#include "cosmology/halos/merge_tree/block_tree.hpp"
#include "cosmology/halos/merge_tree/forest.hpp"
#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream::halos {

/// See forest.hpp. A cell is given by its index in the mesh.
class BoxForest {
 public:
  using Cell = Index3;
  using Border = BorderCell;
  static constexpr bool equal_cells = true;

  explicit BoxForest(Field field) : field_(std::move(field)), steps_(row_steps(field_.connectivity)) {}

  [[nodiscard]] std::int32_t variable() const noexcept { return field_.variable; }
  void build(const LocalInput& input, Built<BorderCell>& built);
  void set_input(const LocalInput& input) { arrays_ = input.of(field_.variable); }
  void clear() noexcept;
  [[nodiscard]] std::vector<ServerEdge> meet(std::vector<BorderCell> border, Communicator& servers) const {
    return border_edges(std::move(border), field_.lattice, steps_, servers);
  }

  [[nodiscard]] std::size_t trees() const noexcept { return boxes_.size(); }
  [[nodiscard]] const std::vector<ValuedCell>& maxima(std::size_t tree) const { return boxes_[tree].maxima(); }
  [[nodiscard]] const std::vector<Triplet>& certain(std::size_t tree) const { return boxes_[tree].certain(); }
  template <class F>
  void for_each_cell(std::size_t tree, double boundary, F&& f) const {
    const auto [a, c0, c1] = std::array{field_.lattice.along, field_.lattice.across[0], field_.lattice.across[1]};
    const Box& cells = boxes_[tree].box();
    const std::int32_t* number = boxes_[tree].numbers().data();
    const ArrayView& array = arrays_[views_[tree]].array;
    with_type(array.type, [&](auto zero) {
      Index3 p = cells.lo;
      for (p[c1] = cells.lo[c1]; p[c1] < cells.hi[c1]; ++p[c1]) {
        for (p[c0] = cells.lo[c0]; p[c0] < cells.hi[c0]; ++p[c0]) {
          p[a] = cells.lo[a];
          const auto* value = array.at<decltype(zero)>(p[0], p[1], p[2], field_.component);
          for (; p[a] < cells.hi[a]; ++p[a], value += array.strides[a], ++number) {
            const auto v = static_cast<double>(*value);
            if (v >= boundary && *number >= 0) f(p, v, *number);
          }
        }
      }
    });
  }
  [[nodiscard]] Index id_of(Index3 cell) const noexcept {
    for (std::size_t a = 0; a < 3; ++a) cell[a] -= field_.lattice.origin[a];
    return field_.lattice.id_of(cell);
  }
  [[nodiscard]] std::optional<FoundCell> find(const Index3& place) const;

  [[nodiscard]] Bytes sum_values(const LocalInput& input) const {
    return halos::sum_values(input.of(field_.variable), field_.component);
  }
  void add(const Index3&, double value, TreeHalo& halo) const noexcept { halo.mass.add(value); }
  [[nodiscard]] double unit_volume() const noexcept { return field_.cell_volume(); }
  void add_places(const std::string&, const std::vector<Index>&, std::vector<Column>&) const noexcept {}
  void add_cells(const std::vector<Index>&, std::vector<Column>&) const noexcept {}

 private:
  Field field_;
  std::vector<RowStep> steps_;
  std::vector<BlockTree> boxes_;
  std::vector<std::size_t> views_;  ///< by box: index of its block's view
  std::span<const BlockView> arrays_;
};

}  // namespace sidestream::halos
