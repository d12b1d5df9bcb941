// States that analyses keep beyond an iteration: for a run that resumes from a checkpoint, and for the end of the run.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/iteration.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/results.hpp"

namespace sidestream {

/// Implemented next to Results, where states are kept in the output directory. All functions are collective over
/// `servers`, the communicator of the analysis, and throw Error(file) on all of them.
class KeptStates {
 public:
  virtual ~KeptStates() = default;
  /// Keeps a part of each server as the state `name` after this iteration, whole or not at all, and only the newest
  /// `most` states of that name. `name` is part of a file name; no two tasks use the same.
  virtual void keep_state(const std::string& name, BytesView mine, Communicator& servers, int most) = 0;
  /// Returns parts of the newest state that the resumed run kept at a cycle up to that of this iteration, the first one
  /// of the task. Each part goes to one server, and there may be fewer or more parts than servers. Removes later
  /// states, and all states if this run begins anew.
  [[nodiscard]] virtual std::vector<Bytes> earlier_state(const std::string& name, Communicator& servers) = 0;
};

/// Implemented next to Task by tasks that reduce several iterations to a result. All functions are collective and may
/// throw as Task::combine does.
class LastingTask {
 public:
  virtual ~LastingTask() = default;
  /// Keeps the data with which a later run continues as if this one had not ended. Called after an iteration in which
  /// an output for restarts was due, whether or not the task ran in it, and at the end of the run.
  virtual void keep_state(const Iteration& iteration, Communicator& servers, Results& results) = 0;
  /// Hands over remaining results when no iteration follows. `last` is the last iteration.
  virtual void finish(const Iteration& last, Communicator& servers, Results& results) = 0;
};

}  // namespace sidestream
