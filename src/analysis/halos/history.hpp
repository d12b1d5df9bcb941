// Halo histories in situ: halos of each iteration matched with those of the one before by the cells or the particles
// that they share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/halos/gathering.hpp"
#include "analysis/halos/mass_function.hpp"
#include "analysis/halos/particles.hpp"
#include "analysis/halos/tracks.hpp"

namespace sidestream::halos {

struct HistoryQuery {
  std::string file;
  std::optional<ChartFile> chart;
  int drawn = 24;                          ///< tracks in the chart at most
  std::optional<ParticleQuery> particles;  ///< by which halos are matched; none: by cells
};

/// The option `history`, and its value, if given. Throws Error(configuration).
[[nodiscard]] Option history_option();
[[nodiscard]] std::optional<HistoryQuery> read_history(const Settings& settings, const Metadata& metadata,
                                                       const Field& field);

/// Keeps what is needed of the last iteration that was analysed, whichever that was: each server the runs of halos in
/// the rows that it keeps, or the particles of the numbers that it keeps; the first one the tracks. An iteration that
/// is refused, skipped or fails changes nothing.
class HaloHistory {
 public:
  HaloHistory(HistoryQuery how, const Field& field)
      : how_(std::move(how)), lattice_(field.lattice), name_(field.name), volume_(field.cell_volume()) {}
  /// Collective. `runs`: of this server's halos; `halos`: this server's share, sorted over all; `particles`: this
  /// server's, if halos are matched by them.
  void follow(const std::vector<OwnedRun>& runs, const std::vector<Halo>& halos,
              const std::vector<PlacedParticle>& particles, const CombineInput& input);

 private:
  /// What a track was, for the chart: kept on the first server, only if there is one.
  struct Life {
    std::vector<std::array<double, 2>> seen;  ///< time and mass
    double most = 0;
    double end = 0;
    std::int64_t other = -1;
    bool ended = false;
  };

  [[nodiscard]] std::vector<OwnedRun> kept_rows(const std::vector<OwnedRun>& runs, Communicator& servers) const;
  [[nodiscard]] std::vector<SharedCells> shared_with(const std::vector<OwnedRun>& now) const;
  [[nodiscard]] Table table_of(const std::vector<TrackStep>& steps) const;
  void remember(const std::vector<TrackStep>& steps, double time);
  void draw(const CombineInput& input) const;
  [[nodiscard]] std::vector<std::int64_t> lanes() const;

  HistoryQuery how_;
  Lattice lattice_;
  std::string name_;
  double volume_;
  std::vector<OwnedRun> before_;     ///< of the rows that this server keeps, by row and place
  std::vector<HaloMember> members_;  ///< or of the particles that this server keeps, ascending
  std::int64_t last_ = -1;           ///< index of the iteration that is remembered
  Tracks tracks_;                    ///< on the first server
  std::map<std::int64_t, Life> lives_;
};

}  // namespace sidestream::halos
