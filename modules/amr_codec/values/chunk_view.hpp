// Checks of a chunk, and a search for the neighbours of its groups.
#pragma once

#include <vector>

#include "amr_codec/values/value_coder.hpp"

namespace sidestream::trees {

/// Groups that are predicted together: enough for vector loops, few enough for the first-level cache.
inline constexpr std::size_t tile_groups = 128;

/// True if values of the type can be predicted from parents.
[[nodiscard]] constexpr bool predictable(Type type) noexcept { return type == Type::float32 || type == Type::float64; }
/// True if values of the type can be coded by parent_xor.
[[nodiscard]] constexpr bool in_words(Type type) noexcept { return size_of(type) >= 4; }

/// Throws Error(usage) unless chunk and relations fit each other and `bytes` of values. Companions and parents may be
/// missing.
void check_chunk(std::size_t bytes, const TreeChunk& chunk, const Relations& relations);

/// Throws Error(usage) if this companion is missing, or if its values in parents are needed and missing.
void check_companion(const TreeChunk& chunk, int number, std::size_t cells, bool with_parents);

/// Number of children in each group.
[[nodiscard]] inline std::size_t children_of(const TreeChunk& chunk) noexcept {
  return std::size_t{1} << chunk.groups.dimensions;
}

/// Number of cells of the level above that the chunk knows.
[[nodiscard]] inline std::size_t parents_of(const TreeChunk& chunk) noexcept {
  return chunk.parents.size() / size_of(chunk.type);
}

/// Finds the group of the chunk that has a given parent.
class GroupFinder {
 public:
  GroupFinder() = default;
  /// Makes the table for a chunk that has been checked. Throws Error(usage) if 32 bits cannot number the groups.
  explicit GroupFinder(const SiblingGroups& groups);
  /// The group, or -1 if there is none; `parent` may be -1.
  [[nodiscard]] Index find(Index parent) const noexcept {
    const Index place = parent - first_;
    return place >= 0 && place < static_cast<Index>(group_.size()) ? group_[static_cast<std::size_t>(place)] : -1;
  }
  /// Finds the groups of `count` parents. Where there is none, `out[n]` becomes `own + n`.
  void find_or_own(const Index* parents, std::size_t count, std::int32_t own, std::int32_t* out) const noexcept;

 private:
  Index first_ = 0;
  std::vector<std::int32_t> group_;
};

}  // namespace sidestream::trees
