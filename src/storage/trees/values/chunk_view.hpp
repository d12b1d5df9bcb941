// A chunk whose sizes have been found to fit each other, and where its cells have neighbours.
#pragma once

#include <vector>

#include "storage/trees/values/value_coder.hpp"

namespace sidestream::trees {

/// Groups that are predicted together: enough for wide loops, few enough for the first cache.
inline constexpr std::size_t tile_groups = 128;

/// Whether prediction from parents is known for the type.
[[nodiscard]] constexpr bool predictable(Type type) noexcept { return type == Type::float32 || type == Type::float64; }
/// Whether parent_xor is.
[[nodiscard]] constexpr bool in_words(Type type) noexcept { return size_of(type) >= 4; }

/// Throws Error(usage) unless chunk and relations make sense together with so many bytes of values. Companions and
/// parents may be missing.
void check_chunk(std::size_t bytes, const TreeChunk& chunk, const Relations& relations);

/// Throws Error(usage) if this companion is missing, or its parents are that are asked for.
void check_companion(const TreeChunk& chunk, int number, std::size_t cells, bool with_parents);

/// Of a chunk with groups.
[[nodiscard]] inline std::size_t children_of(const TreeChunk& chunk) noexcept {
  return std::size_t{1} << chunk.groups.dimensions;
}

/// How many cells of the level above the chunk knows of.
[[nodiscard]] inline std::size_t parents_of(const TreeChunk& chunk) noexcept {
  return chunk.parents.size() / size_of(chunk.type);
}

/// Finds the group in the chunk whose parent is a given cell.
class GroupFinder {
 public:
  GroupFinder() = default;
  /// Of a chunk that has been checked. Throws Error(usage) if there are more groups than 32 bits count.
  explicit GroupFinder(const SiblingGroups& groups);
  /// -1: none. `parent` may be -1.
  [[nodiscard]] Index find(Index parent) const noexcept {
    const Index place = parent - first_;
    return place >= 0 && place < static_cast<Index>(group_.size()) ? group_[static_cast<std::size_t>(place)] : -1;
  }
  /// Of `count` parents; `own`, and what follows it, where there is none.
  void find_or_own(const Index* parents, std::size_t count, std::int32_t own, std::int32_t* out) const noexcept;

 private:
  Index first_ = 0;
  std::vector<std::int32_t> group_;
};

}  // namespace sidestream::trees
