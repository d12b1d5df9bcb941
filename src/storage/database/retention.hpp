// Removal of contexts that newer ones replace.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "storage/database/layout.hpp"

namespace sidestream::database {

/// Tracks the contexts of one run; used by the leader of a group.
class Retention {
 public:
  explicit Retention(std::string directory) : directory_(std::move(directory)) {}
  /// Records a committed context and its segments in this group.
  void committed(std::uint64_t slot, std::uint32_t first, std::uint32_t last);
  /// The contexts that exceed `keep`, oldest first.
  [[nodiscard]] std::vector<std::uint64_t> surplus(int keep) const;
  /// Deletes this group's segments that only these contexts use, and forgets the contexts. Call it after their removal
  /// is committed.
  void drop(const std::vector<std::uint64_t>& slots, std::uint32_t run, std::uint32_t group) noexcept;

 private:
  struct Kept {
    std::uint64_t slot;
    std::uint32_t first, last;
  };
  std::string directory_;
  std::deque<Kept> contexts_;
};

}  // namespace sidestream::database
