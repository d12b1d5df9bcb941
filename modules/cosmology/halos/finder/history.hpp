// Halo histories in situ: halos of each iteration are matched with those of the previous one by the cells or the
// particles that they share.
#pragma once

#include <optional>
#include <vector>

#include "cosmology/halos/finder/gathering.hpp"
#include "cosmology/halos/finder/track_record.hpp"

namespace sidestream::halos {

/// Keeps what is needed of the last analysed iteration: each server has the runs of halos in the rows that it keeps, or
/// the particles whose numbers it keeps; the first server has the tracks. An iteration that is refused, skipped or
/// fails changes nothing.
class HaloHistory {
 public:
  HaloHistory(const HistoryQuery& how, const Field& field)
      : particles_(how.particles), lattice_(field.lattice), volume_(field.cell_volume()), record_(how, field.name) {}
  /// Collective. `runs`: of this server's halos; `halos`: this server's share, sorted over all; `particles`: this
  /// server's, if halos are matched by them.
  void follow(const std::vector<OwnedRun>& runs, const std::vector<Halo>& halos,
              const std::vector<PlacedParticle>& particles, const CombineInput& input);

 private:
  [[nodiscard]] std::vector<OwnedRun> kept_rows(const std::vector<OwnedRun>& runs, Communicator& servers) const;
  [[nodiscard]] std::vector<SharedCells> shared_with(const std::vector<OwnedRun>& now) const;

  std::optional<ParticleQuery> particles_;
  Lattice lattice_;
  double volume_;
  std::vector<OwnedRun> before_;     ///< runs in the rows that this server keeps, by row and place
  std::vector<HaloMember> members_;  ///< or the particles that this server keeps, ascending
  TrackRecord record_;               ///< on the first server
};

}  // namespace sidestream::halos
