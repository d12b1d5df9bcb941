// Values of a context as callers ask for them: by names, with checks and messages that name the call.
//
// limit_levels hides deeper levels of octrees: `seen` shortens blocks to the visible cells, and `refined` flags on the
// last visible level read as 0. Boxes, lists and blocks are then read by read_context.cpp. Wrong arguments are
// Error(usage), missing values Error(file).
#include "storage/database/stored_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream::database {

namespace {

/// Finds the item of that name. Throws Error(usage) with all names.
template <class Named>
const Named& one_of(const std::vector<Named>& all, const std::string& name, const char* what, const std::string& noun) {
  std::vector<std::string> known;
  for (const Named& one : all) {
    if (one.name == name) return one;
    known.push_back(one.name);
  }
  fail(Code::usage, "the {} has no {} '{}', but {}; {}", noun, what, name, listed(known),
       suggestion(name, known, "correct the name"));
}

}  // namespace

StoredValues::StoredValues(std::unique_ptr<Context> context, std::string noun)
    : context_(std::move(context)), noun_(std::move(noun)) {}

const Variable& StoredValues::variable(const std::string& name) const {
  return one_of(metadata().variables, name, "variable", noun_);
}

const Mesh& StoredValues::mesh(const std::string& name) const { return one_of(metadata().meshes, name, "mesh", noun_); }

std::string StoredValues::codec(const Variable& variable) const {
  std::string text;
  for (const std::vector<std::string>& list : context_->schema().lists_of(static_cast<std::size_t>(variable.id))) {
    if (!list.empty()) text += fmt::format("{}{}", text.empty() ? "" : " or ", fmt::join(list, " "));
  }
  return text;
}

void StoredValues::limit_levels(std::optional<std::int32_t> deepest) {
  if (deepest && *deepest < 0) fail(Code::usage, "limit_levels: level {}; give a number from 0 on, or none", *deepest);
  deepest_ = deepest;
  placed_.reset();
}

bool StoredValues::cuts(const Block& block) const {
  const Mesh& mesh = metadata().meshes[static_cast<std::size_t>(block.mesh)];
  return deepest_ && mesh.kind() == MeshKind::octree && block.cells.extent(0) > 0;
}

std::vector<Index> StoredValues::starts(const PlacedBlock& placed) const {
  std::vector<Index> all = context_->tree(placed.group, placed.row).starts();
  if (deepest_) all.resize(std::min(all.size(), static_cast<std::size_t>(*deepest_) + 2));
  return all;
}

std::optional<std::vector<std::uint8_t>> StoredValues::flags(const PlacedBlock& placed, Role role) const {
  const std::int32_t id = metadata().meshes[static_cast<std::size_t>(placed.block.mesh)].array(role);
  if (id < 0) return std::nullopt;
  const Variable& variable = metadata().variables[static_cast<std::size_t>(id)];
  const std::optional<std::uint64_t> bytes = bytes_on(variable, placed);
  if (!bytes) return std::nullopt;
  std::vector<std::uint8_t> found(*bytes);
  read(variable, placed, std::as_writable_bytes(std::span(found)));
  return found;
}

Block StoredValues::seen(const PlacedBlock& placed) const {
  Block block = placed.block;
  if (cuts(block)) block.cells.hi[0] = starts(placed).back();
  return block;
}

std::vector<PlacedBlock> StoredValues::blocks(const Mesh& mesh) const {
  std::vector<PlacedBlock> found;
  for (std::size_t group = 0; group < context_->groups().size(); ++group) {
    const std::vector<Block>& blocks = context_->blocks(group);
    for (std::uint32_t n = 0; n < blocks.size(); ++n) {
      if (blocks[n].mesh == mesh.id && !hides(blocks[n])) found.push_back({blocks[n], group, n});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const PlacedBlock& a, const PlacedBlock& b) {
    return std::tuple(a.block.level, a.block.id) < std::tuple(b.block.level, b.block.id);
  });
  return found;
}

std::optional<std::uint64_t> StoredValues::bytes_on(const Variable& variable, const PlacedBlock& placed) const {
  if (variable.mesh != placed.block.mesh) return std::nullopt;
  const PieceRow* const row = context_->find(placed.group, static_cast<std::uint32_t>(variable.id), placed.row);
  if (row == nullptr) return std::nullopt;
  return bytes_of_piece(variable, seen(placed), variable.name);
}

void StoredValues::read(const Variable& variable, const PlacedBlock& placed, std::span<std::byte> out) const {
  const PieceRow* const row = context_->find(placed.group, static_cast<std::uint32_t>(variable.id), placed.row);
  if (row == nullptr) {
    fail(Code::file, "the {} has no values of '{}' on block {}; see which blocks there are", noun_, variable.name,
         placed.block.id);
  }
  read_piece(variable, placed, *row, out);
}

void StoredValues::read_piece(const Variable& variable, const PlacedBlock& placed, const PieceRow& row,
                              std::span<std::byte> out) const {
  if (out.data() == nullptr && !out.empty())
    fail(Code::usage, "read_block of '{}': data is null; give an array", variable.name);
  if (!cuts(placed.block) || variable.centering != Centering::cell) {
    return database::read_piece(*context_, placed.group, row, out);
  }
  read_levels(*context_, placed.group, row, *deepest_, out);
  if (variable.role != Role::refined) return;
  const std::vector<Index> levels = starts(placed);
  if (levels.size() < static_cast<std::size_t>(*deepest_) + 2) return;  // the tree has no deeper level
  const auto last = static_cast<std::size_t>(levels[levels.size() - 2]) * size_of(variable.type);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(last), out.end(), std::byte{0});
}

const std::vector<StoredValues::Place>& StoredValues::places(const Variable& variable) {
  if (placed_ == variable.id) return found_places_;
  placed_.reset();
  found_places_.clear();
  for (std::size_t group = 0; group < context_->groups().size(); ++group) {
    for (const PieceRow& row : context_->pieces(group).pieces) {
      if (row.variable != static_cast<std::uint32_t>(variable.id)) continue;
      const Block& block = context_->blocks(group)[row.block];
      if (!hides(block)) found_places_.push_back({{block, group, row.block}, &row});
    }
  }
  std::stable_sort(found_places_.begin(), found_places_.end(),
                   [](const Place& a, const Place& b) { return a.placed.block.id < b.placed.block.id; });
  placed_ = variable.id;
  return found_places_;
}

void StoredValues::read_box(const Variable& variable, std::int32_t level, const Box& box, const Box& array,
                            void* data) const {
  const std::string& name = variable.name;
  if (metadata().mesh_of(variable).is_list())
    fail(Code::usage, "'{}' is a list; read it with read_list or read_block", name);
  if (deepest_ && level > *deepest_) {
    fail(Code::usage, "read_box of '{}': level {}, but the levels were limited to {}", name, level, *deepest_);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    if (box.hi[a] >= box.lo[a]) continue;
    fail(Code::usage,
         "read_box of '{}': the box has lo {} and hi {} along axis {}, expected hi at or above lo; correct the box",
         name, box.lo[a], box.hi[a], a);
  }
  if (!array.contains(box)) {
    fail(Code::usage, "read_box of '{}': the array does not cover the box; give an array that does, or a smaller box",
         name);
  }
  if (data == nullptr && box.count() > 0) fail(Code::usage, "read_box of '{}': data is null; give an array", name);
  const Target target{data, array, packed_strides(array, variable.components, variable.order)};
  const auto missing = database::read_box(*context_, static_cast<std::uint32_t>(variable.id), level, box, target);
  if (missing == 0) return;
  fail(
      Code::file,
      "{} of the {} points of '{}' that were asked for on level {} are in no block of the {}; ask for points that were "
      "published",
      missing, box.count(), name, level, noun_);
}

void StoredValues::read_list(const Variable& variable, std::int64_t first, std::int64_t count, std::byte* out) {
  const std::string& name = variable.name;
  const Mesh& mesh = metadata().mesh_of(variable);
  if (!mesh.is_list()) fail(Code::usage, "'{}' is no list; read it with read_box or read_block", name);
  if (first < 0 || count < 0)
    fail(Code::usage, "read_list of '{}': {} values from {} on; give numbers from 0 on", name, count, first);
  if (out == nullptr && count > 0) fail(Code::usage, "read_list of '{}': data is null; give an array", name);
  if (!deepest_ || mesh.kind() != MeshKind::octree) {
    return database::read_list(*context_, static_cast<std::uint32_t>(variable.id), first, count, out);
  }
  std::vector<std::int64_t> ends;  // ends of the visible parts of the concatenated blocks
  for (const Place& place : places(variable)) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + variable.points(seen(place.placed)).extent(0));
  }
  const std::int64_t all = ends.empty() ? 0 : ends.back();
  if (first > all || count > all - first) {
    fail(Code::file, "{} entries of '{}' from {} on were asked for, but its blocks have {} down to level {}", count,
         name, first, all, *deepest_);
  }
  const std::uint64_t element = size_of(variable.type) * static_cast<std::uint64_t>(variable.components);
  Bytes scratch;
  for (std::size_t n = 0; n < ends.size(); ++n) {
    const std::int64_t begin = n == 0 ? 0 : ends[n - 1];
    const std::int64_t from = std::max(first, begin), to = std::min(first + count, ends[n]);
    if (from >= to) continue;
    const Place& place = found_places_[n];
    scratch.resize(static_cast<std::uint64_t>(ends[n] - begin) * element);
    read_piece(variable, place.placed, *place.row, scratch);
    const auto at = static_cast<std::uint64_t>(from - begin) * element;
    std::memcpy(out + static_cast<std::uint64_t>(from - first) * element, scratch.data() + at,
                static_cast<std::uint64_t>(to - from) * element);
  }
}

std::int64_t StoredValues::list_length(const Variable& variable) {
  std::int64_t length = 0;
  for (const Place& place : places(variable)) length += variable.points(seen(place.placed)).extent(0);
  return length;
}

void StoredValues::read_block(const Variable& variable, std::int64_t id, std::span<std::byte> out) {
  const std::vector<Place>& all = places(variable);
  const auto place = std::lower_bound(all.begin(), all.end(), id,
                                      [](const Place& a, std::int64_t wanted) { return a.placed.block.id < wanted; });
  if (place == all.end() || place->placed.block.id != id) {
    fail(Code::file, "the {} has no values of '{}' on block {}; see which blocks there are", noun_, variable.name, id);
  }
  const std::uint64_t has = bytes_of_piece(variable, seen(place->placed), variable.name);
  if (has != out.size()) {
    fail(Code::usage, "read_block: '{}' has {} bytes on block {}, but room for {} was given", variable.name, has, id,
         out.size());
  }
  read_piece(variable, place->placed, *place->row, out);
}

}  // namespace sidestream::database
