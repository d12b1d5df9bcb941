// States of analyses beyond an iteration: for a run that goes on from a checkpoint, and for the end.
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
  /// Keeps a part of each server as the state `name` after this iteration, whole or not at all. The newest `most`
  /// states of the name stay. `name` is that of a file; no two tasks use the same.
  virtual void keep_state(const std::string& name, BytesView mine, Communicator& servers, int most) = 0;
  /// The parts of the newest state that an earlier run, which this one goes on from, kept at a cycle up to that of this
  /// iteration, the first one of the task. Each part goes to one server, and there may be fewer or more parts than
  /// servers. Later states are removed, and all of them if this run begins anew.
  [[nodiscard]] virtual std::vector<Bytes> earlier_state(const std::string& name, Communicator& servers) = 0;
};

/// Implemented next to Task by tasks that reduce several iterations to a result. All functions are collective and may
/// throw as Task::combine does.
class LastingTask {
 public:
  virtual ~LastingTask() = default;
  /// Keeps what a later run needs to go on as if this one had not ended. Called after the iteration, which need not be
  /// one of the task's, if an output for restarts was due in it, and at the end of the run.
  virtual void keep_state(const Iteration& iteration, Communicator& servers, Results& results) = 0;
  /// Hands over what is left when no iteration follows. `last` is the last one.
  virtual void finish(const Iteration& last, Communicator& servers, Results& results) = 0;
};

}  // namespace sidestream
