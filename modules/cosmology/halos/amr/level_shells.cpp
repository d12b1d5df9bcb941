#include "cosmology/halos/amr/level_shells.hpp"

#include <algorithm>
#include <cmath>

#include "cosmology/halos/finder/shells.hpp"
#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream::halos {
namespace {

class LevelShellSearch {
 public:
  LevelShellSearch(const ProfileQuery& query, std::int32_t density, int component, const AmrGrid& levels,
                   const KnownLevelHalos& known, const LocalInput& input)
      : query_(query),
        component_(component),
        levels_(levels),
        known_(known),
        input_(input),
        views_(input.of(density)),
        sums_(query.shells(), query.fields.size()) {
    for (const double edge : query.edges) squares_.push_back(edge * edge);
    for (const BlockView& view : views_) {
      std::vector<const BlockView*>& fields = fields_.emplace_back();
      for (const ProfileField& field : query.fields) fields.push_back(input.find(field.variable, view.block.id));
    }
  }

  /// Sums over all cells of all blocks.
  Bytes spheres() {
    std::vector<std::unique_ptr<LevelBlock>> blocks;
    for (const BlockView& view : views_) blocks.push_back(level_block(levels_, input_, view, component_));
    for (std::size_t h = 0; h < known_.places.size(); ++h) {
      const LevelDistances distances = distances_of(h);
      for (std::size_t v = 0; v < blocks.size(); ++v) {
        if (!blocks[v]) continue;
        blocks[v]->for_each_near(distances, [&](std::int32_t level, double squared, double density,
                                                const Index3& place) { add(v, level, squared, density, place); });
      }
      put(static_cast<std::int64_t>(h));
    }
    return out_.take();
  }

  Bytes halos(const std::vector<NumberedLevelCell>& cells) {
    for (std::size_t n = 0; n < cells.size();) {
      const std::int64_t halo = cells[n].halo;
      const LevelDistances distances = distances_of(static_cast<std::size_t>(halo));
      for (; n < cells.size() && cells[n].halo == halo; ++n) {
        const NumberedLevelCell& one = cells[n];
        const double squared = distances.squared(one.cell);
        if (!(squared < distances.most())) continue;
        add(one.view, one.cell.level, squared, number_at(views_[one.view].array, one.place, component_), one.place);
      }
      put(halo);
    }
    return out_.take();
  }

 private:
  [[nodiscard]] LevelDistances distances_of(std::size_t halo) const {
    return {levels_, known_.places[halo].peak, known_.places[halo].offset, squares_.back()};
  }
  void add(std::size_t view, std::int32_t level, double squared, double density, const Index3& place) {
    if (std::isnan(density)) return;
    const auto shell =
        static_cast<std::size_t>(std::upper_bound(squares_.begin(), squares_.end(), squared) - squares_.begin());
    const double volume = levels_.volume(level), mass = density * volume;
    sums_.add(shell, density, volume);
    if (!std::isfinite(mass)) return;
    for (std::size_t f = 0; f < query_.fields.size(); ++f) {
      if (fields_[view][f] == nullptr) continue;
      const double value = number_at(fields_[view][f]->array, place, query_.fields[f].component);
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
  int component_;
  const AmrGrid& levels_;
  const KnownLevelHalos& known_;
  const LocalInput& input_;
  const std::vector<BlockView>& views_;
  std::vector<std::vector<const BlockView*>> fields_;  ///< by view; null: not on this server
  std::vector<double> squares_;                        ///< squares of the edges
  ShellSums sums_;                                     ///< of the current halo
  ByteWriter out_;
};

}  // namespace

Bytes sum_level_shells(const ProfileQuery& query, std::int32_t density, int component, const AmrGrid& levels,
                       const std::vector<NumberedLevelCell>& cells, const KnownLevelHalos& known,
                       const LocalInput& input) {
  LevelShellSearch search(query, density, component, levels, known, input);
  return query.sphere ? search.spheres() : search.halos(cells);
}

}  // namespace sidestream::halos
