// Tracks of halos over the iterations of a run: their table and their chart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cosmology/halos/finder/history_query.hpp"
#include "cosmology/halos/finder/tracks.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// Kept on the first server only.
class TrackRecord {
 public:
  /// `name`: of the field, for the chart.
  TrackRecord(HistoryQuery how, std::string name) : how_(std::move(how)), name_(std::move(name)) {}
  /// Updates the tracks (see Tracks::follow).
  [[nodiscard]] std::vector<TrackStep> follow(const std::vector<SeenHalo>& now, const std::vector<SharedCells>& shared);
  /// Writes the table of an iteration, and requests the chart of all. `peaks`: columns with the positions of the halos
  /// of steps; `shared`: the column of that name.
  void write(const std::vector<TrackStep>& steps, std::vector<Column> peaks, Column shared, const CombineInput& input);

 private:
  HistoryQuery how_;
  std::string name_;
  std::int64_t last_ = -1;  ///< index of the remembered iteration
  Tracks tracks_;
};

}  // namespace sidestream::halos
