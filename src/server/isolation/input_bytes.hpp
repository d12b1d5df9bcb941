// The input of `local` as bytes for another process. Values stay where `PlacedValues` says.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "server/isolation/placed_values.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// Encodes the input, with only those blocks that the entries of the selection asked for.
[[nodiscard]] Bytes bytes_of(const LocalInput& input, PlacedValues& values);

/// An input that another process wrote. Its values lie in memory that must outlive it: object n begins at `objects[n]`.
class ReceivedInput {
 public:
  /// Throws Error(internal) if the bytes end too early.
  ReceivedInput(BytesView bytes, const Metadata& metadata, std::span<const std::byte* const> objects);
  [[nodiscard]] const LocalInput& input() const noexcept { return *input_; }

 private:
  Iteration iteration_;
  Bytes feedback_;
  Catalogue catalogue_;
  std::vector<std::vector<BlockView>> blocks_;  ///< by variable
  std::vector<std::vector<BlockView>> pieces_;  ///< of decompositions
  std::vector<EntryViews> entries_;
  std::vector<Event> events_;
  std::unique_ptr<LocalInput> input_;
};

}  // namespace sidestream
