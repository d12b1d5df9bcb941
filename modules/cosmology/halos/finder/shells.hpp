// Sums over the cells in shells around halos: all cells of a sphere, or only the halo's.
//
// For spheres, every block visits its cells near each halo (Distances::for_each_near, and for trees by descending from
// the roots). Otherwise the halo's own pieces are visited. A cell belongs to the shell that contains its middle, with
// its whole volume; the shell is found by binary search among squared edges.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cosmology/halos/finder/distances.hpp"
#include "cosmology/halos/finder/gathering.hpp"
#include "cosmology/halos/finder/profile.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream::halos {

/// Exact sums, so that the order of cells does not matter. Shell 0 lies below the first edge, shell n between edges n -
/// 1 and n.
class ShellSums {
 public:
  ShellSums(std::size_t shells, std::size_t fields)
      : fields_(fields), shells_(shells + 1), sums_(shells_.size() * fields) {}

  void add(std::size_t shell, double density) noexcept {
    ++shells_[shell].cells;
    shells_[shell].mass.add(density);
    any_ = true;
  }
  /// Adds a cell with a volume; the mass is then in units of density times volume.
  void add(std::size_t shell, double density, double volume) noexcept {
    ++shells_[shell].cells;
    shells_[shell].mass.add_product(density, volume);
    shells_[shell].volume.add(volume);
    any_ = true;
  }
  /// Adds a field's value in a cell with that mass; both must be finite.
  void add_field(std::size_t shell, std::size_t field, double mass, double value) noexcept {
    FieldSum& sum = sums_[shell * fields_ + field];
    sum.weights.add(mass);
    sum.products.add_product(mass, value);
  }

  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] std::int64_t cells(std::size_t shell) const noexcept { return shells_[shell].cells; }
  [[nodiscard]] const ExactSum& mass(std::size_t shell) const noexcept { return shells_[shell].mass; }
  /// Volume of the cells that were added with a volume.
  [[nodiscard]] const ExactSum& volume(std::size_t shell) const noexcept { return shells_[shell].volume; }
  /// Mean weighted by the mass; NaN without mass.
  [[nodiscard]] double mean(std::size_t shell, std::size_t field) const noexcept;

  void write(ByteWriter& out) const;
  /// Adds the sums written by `write`.
  void read(ByteReader& in);
  void clear() noexcept;

 private:
  struct Shell {
    std::int64_t cells = 0;
    ExactSum mass, volume;
  };
  struct FieldSum {
    ExactSum weights, products;
  };

  std::size_t fields_;
  std::vector<Shell> shells_;
  std::vector<FieldSum> sums_;
  bool any_ = false;
};

template <CellGraph Graph>
class ShellSearch {
 public:
  ShellSearch(const ProfileQuery& query, const Graph& graph, const KnownHalos<typename Graph::Id>& known,
              const LocalInput& input)
      : query_(query),
        graph_(graph),
        known_(known),
        input_(input),
        views_(input.of(graph.variable())),
        sums_(query.shells(), query.fields.size()) {
    for (const double edge : query.edges) squares_.push_back(edge * edge);
    for (const BlockView& view : views_) {
      std::vector<ArrayView>& fields = fields_.emplace_back();
      for (const ProfileField& field : query.fields) {
        const BlockView* of = input.find(field.variable, view.block.id);
        fields.push_back(of ? of->array : ArrayView{});
      }
    }
  }

  /// Sums over all cells of all blocks.
  Bytes spheres() {
    const typename Graph::Blocks blocks(graph_, input_);
    for (std::size_t h = 0; h < known_.places.size(); ++h) {
      const auto distances = distances_of(h);
      for (std::size_t v = 0; v < views_.size(); ++v) {
        blocks.for_each_near(v, distances, [&](std::int32_t level, double squared, const Index3& place) {
          add(v, level, squared, place);
        });
      }
      put(static_cast<std::int64_t>(h));
    }
    return out_.take();
  }

  /// Sums over the cells of halos. `pieces`: sorted by halo.
  Bytes halos(const std::vector<LocatedPiece<Graph>>& pieces) {
    for (std::size_t n = 0; n < pieces.size();) {
      const std::int64_t halo = pieces[n].halo;
      const auto distances = distances_of(static_cast<std::size_t>(halo));
      for (; n < pieces.size() && pieces[n].halo == halo; ++n) {
        const auto& [number, piece, source] = pieces[n];
        const std::uint32_t view = source.view;
        graph_.for_each_cell(piece, source, [&](std::int32_t level, const Index3& index, const Index3& place) {
          add(view, level, distances.squared(level, index), place);
        });
      }
      put(halo);
    }
    return out_.take();
  }

 private:
  [[nodiscard]] auto distances_of(std::size_t halo) const {
    const auto& [peak, offset] = known_.places[halo];
    const auto cell = graph_.cell_of(peak);
    return Distances(graph_.geometry(), Graph::level_of(cell), Graph::index_of(cell), offset, squares_.back());
  }
  /// `place`: index of the cell in the block's arrays.
  void add(std::size_t view, std::int32_t level, double squared, const Index3& place) {
    if (!(squared < squares_.back())) return;
    const double density = number_at(views_[view].array, place, graph_.component());
    if (std::isnan(density)) return;
    const auto shell =
        static_cast<std::size_t>(std::upper_bound(squares_.begin(), squares_.end(), squared) - squares_.begin());
    double mass = density;
    if constexpr (Graph::equal_cells) {
      sums_.add(shell, density);
    } else {
      const double volume = graph_.volume(level);
      mass *= volume;
      sums_.add(shell, density, volume);
    }
    if (!std::isfinite(mass)) return;
    for (std::size_t f = 0; f < query_.fields.size(); ++f) {
      if (fields_[view][f].data == nullptr) continue;
      const double value = number_at(fields_[view][f], place, query_.fields[f].component);
      if (std::isfinite(value)) sums_.add_field(shell, f, mass, value);
    }
  }
  void put(std::int64_t halo) {
    if (!sums_.any()) return;
    ByteWriter sums;
    sums_.write(sums);
    out_.put(halo);
    out_.put(sums.bytes());
    sums_.clear();
  }

  const ProfileQuery& query_;
  const Graph& graph_;
  const KnownHalos<typename Graph::Id>& known_;
  const LocalInput& input_;
  const std::vector<BlockView>& views_;
  std::vector<std::vector<ArrayView>> fields_;  ///< by view; null data: not on this server
  std::vector<double> squares_;                 ///< squares of the edges
  ShellSums sums_;                              ///< of the current halo
  ByteWriter out_;
};

/// Exact sums of this server's cells in each halo's shells: a partial result. `pieces`: of halos, if only their own
/// cells count.
template <CellGraph Graph>
[[nodiscard]] Bytes sum_shells(const ProfileQuery& query, const Graph& graph,
                               const std::vector<LocatedPiece<Graph>>& pieces,
                               const KnownHalos<typename Graph::Id>& known, const LocalInput& input) {
  ShellSearch<Graph> search(query, graph, known, input);
  return query.sphere ? search.spheres() : search.halos(pieces);
}

}  // namespace sidestream::halos
