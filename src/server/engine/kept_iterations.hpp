// The last iterations of an output, kept in this server's memory until a condition holds (`keep_back`).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "server/engine/assembler.hpp"
#include "sidestream/data/event.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// Copies of the values that one output would have written. Arrays that do not vary in time are copied once as long as
/// their values stay the same. The newest iteration reuses the memory of the oldest, whose pages are mapped.
class KeptIterations {
 public:
  /// Keeps at most `most` iterations in `limit` bytes. `metadata` must outlive this object.
  KeptIterations(std::size_t most, std::uint64_t limit, const Metadata& metadata)
      : most_(most), limit_(limit), metadata_(&metadata) {}

  /// Memory of some copies; several iterations may share it.
  struct Memory {
    std::shared_ptr<std::byte[]> data{};
    std::uint64_t bytes = 0;
  };
  struct Kept {
    Iteration iteration;
    bool missing = false;   ///< true if the iteration was refused or could not be copied
    bool owed = false;      ///< true if it was to be written, and that failed
    bool done = false;      ///< true if `remove_done` may forget it
    Assembled assembled{};  ///< its views point into `memory`
    std::vector<Memory> memory{};
    std::vector<Event> events{};
  };

  /// Copies the values, and forgets the oldest iteration if there are more than `most`, or one more while some are
  /// owed. Throws Error(analysis) if the values do not fit. If it throws on any server, call `drop_newest` on all.
  void keep(const Iteration& iteration, const Views& views, std::shared_ptr<const Catalogue> catalogue,
            std::span<const Event> events = {});
  /// Forgets the values of an iteration that some server could not keep.
  void drop_newest(const Iteration& iteration);
  /// Counts an iteration without values, so that older iterations are forgotten as usual.
  void pass(const Iteration& iteration);
  /// The last iterations, the oldest first.
  [[nodiscard]] std::deque<Kept>& all() noexcept { return kept_; }
  [[nodiscard]] bool owes() const noexcept {
    return std::any_of(kept_.begin(), kept_.end(), [](const Kept& one) { return one.owed; });
  }
  void remove_done() noexcept;
  /// Takes the indices of iterations that were owed and had to make room.
  [[nodiscard]] std::vector<std::int64_t> take_lost() noexcept { return std::exchange(lost_, {}); }
  /// The number of iterations that it still has room for.
  [[nodiscard]] std::size_t room() const noexcept { return most_ - std::min(most_, kept_.size()); }
  /// Bytes of all copies.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  [[nodiscard]] Memory allocate(std::uint64_t bytes);
  void copy(ArrayView& array, Memory* constant);
  void forget(Kept& kept) noexcept;
  void drop_oldest();
  void free_unused() noexcept;

  std::size_t most_;
  std::uint64_t limit_, bytes_ = 0;
  const Metadata* metadata_;
  std::deque<Kept> kept_;
  std::vector<std::int64_t> lost_;
  std::vector<Memory> free_;                                           ///< memory of forgotten iterations
  std::vector<std::vector<BlockView>> views_;                          ///< of a forgotten iteration, to be filled again
  std::map<std::pair<std::int32_t, std::int64_t>, Memory> constants_;  ///< arrays that do not vary in time, by variable
                                                                       ///< and block, as copied last
};

}  // namespace sidestream
