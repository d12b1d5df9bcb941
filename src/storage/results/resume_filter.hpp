// What stays of tables and indices that a run goes on with.
#pragma once

#include <cstdint>

#include "storage/files/batch_directory.hpp"

namespace sidestream {

/// Tells what this run is about to do again from what was there before it. Another run counts its iterations from 0, so
/// that its entries are told apart by cycle. Servers before these in one session counted as these do: an iteration of a
/// lower index was theirs, also if it has the cycle of the first one here. Rows of an earlier run may lie before
/// theirs, so that within a session either of both keeps an entry.
class ResumeFilter {
 public:
  /// `first`: the first iteration of this run.
  ResumeFilter(const OutputDirectory& directory, const Iteration& first)
      : first_(first), within_session_(goes_on_within_session(directory)) {}

  [[nodiscard]] bool keeps(std::int64_t index, std::int64_t cycle) const noexcept {
    return cycle < first_.cycle || (within_session_ && index < first_.index);
  }
  [[nodiscard]] const Iteration& first() const noexcept { return first_; }

 private:
  Iteration first_;
  bool within_session_;
};

}  // namespace sidestream
