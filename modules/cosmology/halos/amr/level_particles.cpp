#include "cosmology/halos/amr/level_particles.hpp"

#include <cmath>

#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream::halos {
namespace {

/// Looks up whether a cell counts on this server, and to which halo it belongs.
class ParticlePlaces {
 public:
  ParticlePlaces(std::int32_t density, int component, const AmrGrid& levels,
                 const std::vector<NumberedLevelCell>& cells, const LocalInput& input)
      : levels_(levels), numbered_(cells), cells_(cells_of(cells)), index_(cells_) {
    for (const BlockView& view : input.of(density)) {
      if (auto block = level_block(levels, input, view, component)) blocks_.push_back(std::move(block));
    }
  }
  /// Starts with the block of the last call, since particles that are neighbours in memory are mostly in one block.
  [[nodiscard]] bool is_here(const LevelCell& cell) {
    for (std::size_t n = 0; n < blocks_.size(); ++n) {
      const std::size_t b = (last_ + n) % blocks_.size();
      if (!blocks_[b]->counts_at(cell)) continue;
      last_ = b;
      return true;
    }
    return false;
  }
  /// The halo of the cell that contains it; -1: none.
  [[nodiscard]] std::int64_t halo_at(const LevelCell& cell) const {
    const std::int64_t found = index_.find_round(cell, levels_);
    return found < 0 ? -1 : numbered_[static_cast<std::size_t>(found)].halo;
  }

 private:
  const AmrGrid& levels_;
  const std::vector<NumberedLevelCell>& numbered_;
  std::vector<LevelCell> cells_;
  CellIndex index_;
  std::vector<std::unique_ptr<LevelBlock>> blocks_;
  std::size_t last_ = 0;
};

}  // namespace

LevelParticles find_level_particles(const ParticleQuery& query, std::int32_t density, int component,
                                    const AmrGrid& levels, const std::vector<NumberedLevelCell>& cells,
                                    const LocalInput& input) {
  LevelParticles found;
  ParticlePlaces places(density, component, levels, cells, input);
  const auto finest = static_cast<std::int32_t>(levels.levels()) - 1;
  for (const BlockView& view : input.of(query.coordinates)) {
    const BlockView* ids = input.find(query.ids, view.block.id);
    const BlockView* weights = query.weight >= 0 ? input.find(query.weight, view.block.id) : nullptr;
    if (ids == nullptr || (query.weight >= 0 && weights == nullptr)) continue;  // not delivered
    for_each_counted(view, [&](Index i) {
      std::array<double, 3> x{};
      for (int a = 0; a < levels.dimensions(); ++a) x[static_cast<std::size_t>(a)] = real_at(view, i, a);
      const std::optional<LevelCell> cell = levels.cell_at(finest, x);
      if (!cell) return;
      const bool here = places.is_here(*cell);
      const std::int64_t halo = here ? places.halo_at(*cell) : -1;
      if (here && halo < 0) return;
      const auto id = with_type(ids->array.type, [&](auto zero) {
        return static_cast<std::int64_t>(*ids->array.at<decltype(zero)>(i, 0, 0, 0));
      });
      double weight = weights ? real_at(*weights, i, query.component) : 1;
      if (!std::isfinite(weight)) weight = 0;
      if (here) {
        found.members.push_back({id, halo, weight});
      } else {
        found.others.push_back({id, *cell, weight});
      }
    });
  }
  return found;
}

}  // namespace sidestream::halos
