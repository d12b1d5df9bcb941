// Removes contexts that newer ones replace.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "storage/database/layout.hpp"

namespace sidestream::database {

/// The contexts of one run, on one leader of a group.
class Retention {
 public:
  explicit Retention(std::string directory) : directory_(std::move(directory)) {}
  /// Notes a committed context, and the segments of it that this group has.
  void committed(std::uint64_t slot, std::uint32_t first, std::uint32_t last);
  /// The contexts that exceed `keep`, oldest first.
  [[nodiscard]] std::vector<std::uint64_t> surplus(int keep) const;
  /// After their removal is committed: deletes this group's segments that no other context uses, and forgets them.
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
