// Selected values in the order in which HDF5 takes them.
#pragma once

#include <vector>

#include "selection.hpp"

namespace sidestream::interposed {

/// Nested loops over the values of a regular selection, fastest first, and the place of the first value. Loops that
/// continue each other are one; there are none of one pass.
[[nodiscard]] std::vector<Run> loops_of(const SpaceSelection& memory, Index& offset);

/// The values of any selection in their order.
[[nodiscard]] std::vector<Run> runs_of(const SpaceSelection& memory);

/// Adds values behind others, to the last run if they continue it.
void add_run(std::vector<Run>& runs, Run run);

/// Goes through runs once.
class RunReader {
 public:
  explicit RunReader(const std::vector<Run>& runs) : runs_(runs) {}
  /// The values that follow in the present run, at most `most`; none at the end.
  [[nodiscard]] Run next(Index most);
  /// Moves so many values to `to`; false if there are not enough.
  [[nodiscard]] bool move(Index count, std::vector<Run>& to);
  [[nodiscard]] bool at_end() const noexcept { return at_ == runs_.size(); }

 private:
  const std::vector<Run>& runs_;
  std::size_t at_ = 0;
  Index taken_ = 0;  ///< of the present run
};

/// A row of a box along its fastest axis.
struct Row {
  Index offset = 0, count = 0;  ///< in the whole array
  std::size_t box = 0;
};

/// The rows of all boxes in the order of the array that they lie in.
[[nodiscard]] std::vector<Row> rows_of(const std::vector<SelectedBox>& boxes, const std::vector<Index>& size);

}  // namespace sidestream::interposed
