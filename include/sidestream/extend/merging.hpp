// Helpers for short analyses: iteration over the values that count, and merging of results by one function.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/error.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// Calls `f(point, value)` for each point of a block that counts once over all blocks and levels: those of `counted()`
/// that the simulation does not flag as ghosts. `point` is an Index3 that counts points of the block's level; `value`
/// is component `c` as a double, perhaps NaN. i runs fastest, then j, then k, in each box of `counted()`.
template <class F>
void for_each_counted(const BlockView& block, int c, F&& f) {
  std::vector<double> values, flags;
  for (const Box& box : block.counted()) {
    values.resize(static_cast<std::size_t>(box.count()));
    copy_to_double(block.array, c, box, values.data(), box);
    flags.assign(block.ghosts.data != nullptr ? values.size() : 0, 0);
    if (!flags.empty()) copy_to_double(block.ghosts, 0, box, flags.data(), box);
    std::size_t n = 0;
    for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
      for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
        for (Index i = box.lo[0]; i < box.hi[0]; ++i, ++n) {
          if (flags.empty() || flags[n] == 0) f(Index3{i, j, k}, values[n]);
        }
      }
    }
  }
}

/// A partial of records, which may contain numbers, arrays of them, Index3 and ExactSum, but no pointers.
template <class Record>
requires std::is_trivially_copyable_v<Record>
[[nodiscard]] Bytes partial_of(const std::vector<Record>& records) {
  const BytesView bytes = std::as_bytes(std::span(records));
  return {bytes.begin(), bytes.end()};
}

/// The records of a partial. kit/base/records.hpp has similar functions for code that may use fmt. Throws
/// Error(analysis) unless there are `count`.
template <class Record>
requires std::is_trivially_copyable_v<Record>
[[nodiscard]] std::vector<Record> records_in(BytesView partial, std::size_t count) {
  if (partial.size() != count * sizeof(Record)) {
    throw Error(Code::analysis, "a partial has " + std::to_string(partial.size()) + " bytes, expected " +
                                    std::to_string(count) + " records of " + std::to_string(sizeof(Record)));
  }
  std::vector<Record> records(count);
  if (count > 0) std::memcpy(static_cast<void*>(records.data()), partial.data(), partial.size());
  return records;
}

/// Merges the partials of all servers, which `partial_of` made: `merge(total, record)` adds a record to that of the
/// same number in the total. `neutral` has as many records, which change nothing when they are merged: 0 for a sum,
/// minus infinity for a maximum; it counts once for each server, and is the result if there are no partials.
/// Collective; the result is the same on all servers, and the same for any division if `merge` is exact and does not
/// depend on the order. Each server gets the records of all: for large results use the reductions of
/// `input.communicator`.
template <class Record, class Merge>
[[nodiscard]] std::vector<Record> merged(const CombineInput& input, const std::vector<Record>& neutral, Merge merge) {
  const auto all_of = [&](std::span<const Bytes> partials) {
    std::vector<Record> total = neutral;
    for (const Bytes& partial : partials) {
      const std::vector<Record> records = records_in<Record>(partial, total.size());
      for (std::size_t n = 0; n < total.size(); ++n) merge(total[n], records[n]);
    }
    return total;
  };
  const std::vector<Record> mine = all_of(input.partials);
  return input.communicator.size() == 1 ? mine : all_of(input.communicator.all_gather(partial_of(mine)));
}

}  // namespace sidestream
