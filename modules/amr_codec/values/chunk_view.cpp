// Checks chunks and finds neighbouring groups.
//
// Input may come from damaged files, so every size and number is checked once here. The kernels that run afterwards
// check nothing. Usually all numbers are right, so vector loops without branches test whole arrays. If such a test
// fails, a second loop looks for the number that the message names.
//
// GroupFinder is a table over the range of parents in the chunk. Parents ascend and are nearly contiguous, so the table
// is small, and a look-up takes constant time.
#include "amr_codec/values/chunk_view.hpp"

#include <algorithm>

#include "amr_codec/values/elements.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::trees {

namespace {

// Both functions return a number below 0 if any of the numbers is wrong; the loops have no branches.

SIDESTREAM_WIDE Index outside(const Index* numbers, std::size_t count, Index end) noexcept {
  std::uint64_t out = 0;
  const auto last = static_cast<std::uint64_t>(end) - 1;
  for (std::size_t n = 0; n < count; ++n) {
    const auto number = static_cast<std::uint64_t>(numbers[n]);
    out |= (number + 1) | (last - number);
  }
  return static_cast<Index>(out);
}

SIDESTREAM_WIDE Index descending(const Index* numbers, std::size_t count) noexcept {
  Index down = 0;
  for (std::size_t n = 1; n < count; ++n) down |= numbers[n] - numbers[n - 1] - 1;
  return down;
}

/// True if all numbers are in [-1, end).
bool all_below(std::span<const Index> numbers, Index end) noexcept {
  return outside(numbers.data(), numbers.size(), end) >= 0;
}

/// True if the numbers ascend strictly in [0, end).
bool all_ascend(std::span<const Index> numbers, Index end) noexcept {
  return all_below(numbers, end) && numbers.front() >= 0 && descending(numbers.data(), numbers.size()) >= 0;
}

void check_groups(std::size_t bytes, const TreeChunk& chunk) {
  const SiblingGroups& groups = chunk.groups;
  if (groups.dimensions < 1 || groups.dimensions > 3) {
    fail(Code::usage, "a tree's chunk of {} dimensions, expected 1 to 3", groups.dimensions);
  }
  const std::size_t size = size_of(chunk.type);
  if (bytes % size != 0 || chunk.parents.size() % size != 0) {
    fail(Code::usage, "{} bytes of values and {} of parents are not whole elements of type {}", bytes,
         chunk.parents.size(), name_of(chunk.type));
  }
  if (groups.parent.empty()) return;
  if (bytes / size != groups.parent.size() * children_of(chunk)) {
    fail(Code::usage, "{} values in {} sibling groups, expected {} in each", bytes / size, groups.parent.size(),
         children_of(chunk));
  }
  const std::size_t faces = 2 * static_cast<std::size_t>(groups.dimensions);
  if (!groups.beside.empty() && groups.beside.size() != groups.parent.size() * faces) {
    fail(Code::usage, "{} cells beside the parents of {} sibling groups, expected {} for each", groups.beside.size(),
         groups.parent.size(), faces);
  }
  if (chunk.parents.empty()) return;
  const auto parents = static_cast<Index>(parents_of(chunk));
  Index last = -1;
  const bool ascend = all_ascend(groups.parent, parents);
  for (std::size_t g = 0; !ascend && g < groups.parent.size(); ++g) {
    const Index parent = groups.parent[g];
    if (parent <= last || parent >= parents) {
      fail(Code::usage, "a sibling group whose parent is cell {}, expected one behind {} and before {}", parent, last,
           parents);
    }
    last = parent;
  }
  if (all_below(groups.beside, parents)) return;
  for (const Index cell : groups.beside) {
    if (cell < -1 || cell >= parents)
      fail(Code::usage, "cell {} beside a parent, expected -1 to {}", cell, parents - 1);
  }
}

void check_number(int number, int companions) {
  if (number < 0 || number >= companions) {
    fail(Code::usage, "a relation names companion {} of {}; numbers count from 0", number, companions);
  }
}

void check_terms(const std::vector<RelationTerm>& terms, int companions) {
  for (const RelationTerm& term : terms) {
    for (const int number : term.times) check_number(number, companions);
    for (const int number : term.over) check_number(number, companions);
  }
}

void check_face(const FaceRelation& face, int dimensions, int companions) {
  if (face.axis < 0 || face.axis >= dimensions) {
    fail(Code::usage, "a face normal to axis {} of a tree of {} dimensions", face.axis, dimensions);
  }
  if (face.opposite >= 0) check_number(face.opposite, companions);
  const auto d = static_cast<std::size_t>(dimensions);
  if (!face.others.empty() && face.others.size() != 2 * (d - 1)) {
    fail(Code::usage, "a divergence of {} other faces, expected {}: two of each other axis", face.others.size(),
         2 * (d - 1));
  }
  for (const int number : face.others) check_number(number, companions);
  if (!face.lengths.empty() && face.lengths.size() < d) {
    fail(Code::usage, "cells with {} lengths in {} dimensions", face.lengths.size(), dimensions);
  }
}

}  // namespace

void check_chunk(std::size_t bytes, const TreeChunk& chunk, const Relations& relations) {
  check_groups(bytes, chunk);
  const int companions = relations.companions;
  if (companions < 0 || companions > 32)
    fail(Code::usage, "{} companions of a variable, expected at most 32", companions);
  if (relations.mean) {
    if (relations.mean->weight >= 0) check_number(relations.mean->weight, companions);
    check_terms(relations.mean->offset, companions);
  }
  if (relations.face) check_face(*relations.face, chunk.groups.dimensions, companions);
  check_terms(relations.closure, companions);
}

void check_companion(const TreeChunk& chunk, int number, std::size_t cells, bool with_parents) {
  const auto at = static_cast<std::size_t>(number);
  if (at >= chunk.companions.size()) {
    fail(Code::usage, "a chunk with {} companions, where companion {} is needed", chunk.companions.size(), number);
  }
  const Companion& one = chunk.companions[at];
  const std::size_t size = size_of(one.type);
  if (one.values.size() != cells * size || (with_parents && one.parents.size() != parents_of(chunk) * size)) {
    fail(Code::usage, "companion {} with {} bytes of values and {} of parents, expected {} and {}", number,
         one.values.size(), one.parents.size(), cells * size, parents_of(chunk) * size);
  }
}

GroupFinder::GroupFinder(const SiblingGroups& groups) {
  if (groups.parent.empty()) return;
  if (groups.parent.size() > INT32_MAX) {
    fail(Code::usage, "a tree's chunk of {} sibling groups, expected at most 2^31 - 1; make chunks smaller",
         groups.parent.size());
  }
  first_ = groups.parent.front();
  group_.assign(static_cast<std::size_t>(groups.parent.back() - first_) + 1, -1);
  std::int32_t next = 0;
  for (const Index parent : groups.parent) group_[static_cast<std::size_t>(parent - first_)] = next++;
}

namespace {

// This loop has no branches. They would be mispredicted, since the existence of a neighbour changes from group to
// group.
SIDESTREAM_WIDE void find_groups(const std::int32_t* __restrict groups, std::uint64_t size, Index first,
                                 const Index* __restrict parents, std::size_t count, std::int32_t own,
                                 std::int32_t* __restrict out) noexcept {
  for (std::size_t g = 0; g < count; ++g) {
    const auto place = static_cast<std::uint64_t>(parents[g] - first);
    const std::int32_t found = groups[place < size ? place : 0];
    const std::int32_t itself = own + static_cast<std::int32_t>(g);
    const std::int32_t inside = place < size ? found : -1;
    out[g] = inside < 0 ? itself : inside;
  }
}

}  // namespace

void GroupFinder::find_or_own(const Index* parents, std::size_t count, std::int32_t own,
                              std::int32_t* out) const noexcept {
  find_groups(group_.data(), group_.size(), first_, parents, count, own, out);
}

}  // namespace sidestream::trees
