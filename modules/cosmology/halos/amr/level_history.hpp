// Histories of halos in cells of several levels, matched by the volume, or the particles, that they share.
#pragma once

#include <optional>
#include <vector>

#include "cosmology/halos/amr/cell_owners.hpp"
#include "cosmology/halos/amr/level_particles.hpp"
#include "cosmology/halos/finder/labels.hpp"
#include "cosmology/halos/finder/track_record.hpp"

namespace sidestream::halos {

/// A cell of a halo, with the halo's number. Trivially copyable; sent between servers.
struct KeptLevelCell {
  LevelCell cell;
  std::int64_t halo = -1;
};

/// Keeps what is needed of the last analysed iteration: each server has the cells of halos that it keeps (see
/// CellOwners), or the particles whose numbers it keeps; the first server has the halos and the tracks. The mesh may
/// have been refined or coarsened in between: where a cell was split, each of its parts counts with its own volume.
class LevelHistory {
 public:
  LevelHistory(const HistoryQuery& how, const AmrGrid& levels, const std::string& name)
      : particles_(how.particles), levels_(levels), record_(how, name) {}
  /// Collective. `cells`, `particles`: this server's, in halos; `halos`: this server's share, sorted over all.
  void follow(const std::vector<KeptLevelCell>& cells, const LevelParticles& particles,
              const std::vector<LevelHalo>& halos, const CombineInput& input);

 private:
  /// Number of cells of a level that two halos share, including parts that are cells only in the other iteration.
  struct Overlap {
    std::int64_t before = -1, now = -1;
    std::int32_t level = 0;
    Index cells = 0;
  };

  [[nodiscard]] std::vector<KeptLevelCell> kept(const std::vector<KeptLevelCell>& cells, const CellOwners& keepers,
                                                Communicator& servers) const;
  [[nodiscard]] std::vector<Overlap> overlaps_with(const std::vector<KeptLevelCell>& now, const CellOwners& keepers,
                                                   int server) const;
  [[nodiscard]] std::vector<SharedCells> shared_volumes(const std::vector<Overlap>& all) const;
  [[nodiscard]] std::vector<HaloMember> members_of(const LevelParticles& particles,
                                                   const std::vector<KeptLevelCell>& now, const CellOwners& keepers,
                                                   Communicator& servers) const;
  void write(const std::vector<LevelHalo>& halos, const std::vector<SharedCells>& shared, const CombineInput& input);

  std::optional<ParticleQuery> particles_;
  const AmrGrid& levels_;
  std::vector<KeptLevelCell> before_;  ///< those that this server keeps
  std::vector<HaloMember> members_;    ///< or the particles that it keeps, ascending
  std::vector<LevelHalo> halos_;       ///< of the previous iteration, on the first server
  TrackRecord record_;                 ///< on the first server
};

// The halo of each cell of a tree, or of patches on refinement levels.

/// Collective: writes a data set of lists with an entry for each cell that belongs to a halo: its `level`, its indices
/// in the mesh's numbering (`i`, `j`, `k`), the number of its halo. Sorted by level, then k, j, i, independent of the
/// division of cells among servers; each server has an equal share.
void write_level_labels(const LabelQuery& query, const AmrGrid& levels, const std::vector<KeptLevelCell>& cells,
                        const CombineInput& input);

}  // namespace sidestream::halos
