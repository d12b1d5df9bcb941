// The tracks of halos over the iterations of a run: their table and their chart.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/halos/finder/history_query.hpp"
#include "analysis/halos/finder/tracks.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// Kept on the first server alone.
class TrackRecord {
 public:
  /// `name`: of the field, for the chart.
  TrackRecord(HistoryQuery how, std::string name) : how_(std::move(how)), name_(std::move(name)) {}
  /// What becomes of the tracks (see Tracks::follow).
  [[nodiscard]] std::vector<TrackStep> follow(const std::vector<SeenHalo>& now, const std::vector<SharedCells>& shared);
  /// The table of an iteration, and the chart of all. `peaks`: columns that say where the halos of steps are; `shared`:
  /// the column of that name.
  void write(const std::vector<TrackStep>& steps, std::vector<Column> peaks, Column shared, const CombineInput& input);

 private:
  /// What a track was, for the chart: kept only if there is one.
  struct Life {
    std::vector<std::array<double, 2>> seen;  ///< time and mass
    double most = 0;
    double end = 0;
    std::int64_t other = -1;
    bool ended = false;
  };

  void remember(const std::vector<TrackStep>& steps, double time);
  void draw(const CombineInput& input) const;
  [[nodiscard]] std::vector<std::int64_t> lanes() const;

  HistoryQuery how_;
  std::string name_;
  std::int64_t last_ = -1;  ///< index of the iteration that is remembered
  Tracks tracks_;
  std::map<std::int64_t, Life> lives_;
};

}  // namespace sidestream::halos
