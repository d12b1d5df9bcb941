// Blocks of a publisher: their declaration, change and removal.
//
// 1. complete: fills in omitted axes, converts points to cells on meshes with owned points, and checks the block
//    against its mesh.
// 2. check_unused: a block cannot change while an array of it is allocated, committed or published in this iteration.
// 3. place or drop: updates the block and the records of all its variables. A changed record gets a new revision.
// 4. tell: sends the declaration, also in a refused iteration, because later ones depend on it.
// Errors are thrown before anything changes.
#include "client/publisher.hpp"
#include "client/publisher_parts.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

const Mesh& Publisher::mesh(std::string_view name) const {
  const Mesh* found = metadata_.find_mesh(name);
  if (!found) {
    fail(Code::usage, "the mesh '{}' is not declared{}; declare it in the configuration or by a call", name,
         near_to(name, names_of(metadata_.meshes)));
  }
  return *found;
}

/// Throws if an array of the block is in use: allocated or handed-over arrays describe the block in its old state.
void Publisher::check_unused(const Mesh& on, std::int64_t id, const char* call) const {
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh != on.id) continue;
    const Slots& slots = slots_[static_cast<std::size_t>(variable.id)];
    const auto slot = slots.find(id);
    if (slot != slots.end()) check_unused(slot->second, call);
  }
}

void Publisher::check_unused(const Slot& slot, const char* call) const {
  if (slot.state != Slot::State::none) {
    fail(Code::usage, "{}: '{}' is {} on block {}; clear it first", call, name_of(slot),
         slot.state == Slot::State::allocated ? "allocated" : "committed", slot.record.block.id);
  }
  if (slot.published_in == account_.iterations) {
    fail(Code::usage,
         "{}: '{}' was published on block {} in this iteration; change blocks before the first publication", call,
         name_of(slot), slot.record.block.id);
  }
}

/// Sends a declaration. It reaches the servers even in a refused iteration, because the next one depends on it.
void Publisher::tell(const Block& block, bool removed) {
  if (!transport_ || options_.off) return;
  static_cast<void>(begin());
  transport_->declare(block, removed);
}

/// Gives the record a new revision, because its description changes.
void Publisher::number(BlockRecord& record) {
  if (record.number == BlockRecord::no_number && free_numbers_.empty()) {
    record.number = numbers_++;
  } else if (record.number == BlockRecord::no_number) {
    record.number = free_numbers_.back();
    free_numbers_.pop_back();
  }
  record.revision = ++revisions_;
}

/// Describes publications of this variable on this block. A changed block has no unsent arrays.
void Publisher::describe(Slot& slot, const Variable& variable, const Block& block, const Box& box) {
  BlockRecord& record = slot.record;
  if (record.block.client != block.client || !record.block.same_shape(block)) mark_sent(slot);
  record.block = block;
  record.variable = variable.id;
  record.components = variable.components;
  record.type = variable.type;
  record.order = variable.order;
  record.box = box;
  record.bytes = packed_bytes(box, variable.components, variable.type);
  record.persistent = variable.time_varying ? 0 : 1;
  record.centering = variable.centering;
  record.role = variable.role;
  number(record);
  if (slot.waiting.size() != record.bytes) slot.waiting.clear();
}

namespace {

constexpr BlockCalls set_calls{"set_block", "set_block_list"};

/// Value of both bounds of an axis that the caller of a binding omitted; Python and Fortran contain the same number.
constexpr Index not_given = INT64_MIN;

/// Fills in omitted axes, which is allowed if the mesh does not have them.
void complete_axes(const Mesh& on, Block& block, const char* call) {
  int given = 0;
  while (given < 3 && block.cells.lo[static_cast<std::size_t>(given)] != not_given) ++given;
  if (given < 3 && given < on.dimensions) {
    fail(Code::usage,
         "{}: block {} of the mesh '{}' is given along {} axes, expected {}: give lo and hi an entry for each axis of "
         "the mesh",
         call, block.id, on.name, given, on.dimensions);
  }
  for (auto a = static_cast<std::size_t>(given); a < 3; ++a) {
    block.cells.lo[a] = 0;
    block.cells.hi[a] = 1;
  }
}

/// Refuses blocks that are empty only along axes that the mesh does not have, which is a mistake.
void check_unused_axes(const Mesh& on, const Block& block) {
  bool empty = false;
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    if (a < on.dimensions && block.cells.hi[n] <= block.cells.lo[n]) return;
    empty |= a >= on.dimensions && block.cells.hi[n] <= block.cells.lo[n];
  }
  if (!empty) return;
  fail(
      Code::usage,
      "block {} of the mesh '{}' is {}, which is empty along an axis that the mesh, of {} dimensions, does not use; give "
      "0 and 1 there, or lo equal to hi along an axis that it uses if the block is to be empty",
      block.id, on.name, text_of(block.cells), on.dimensions);
}

/// Converts the box of a block from points to cells, on a mesh with owned points: each point has the cell above it.
void count_in_cells(const Mesh& on, Block& block) {
  const Box points = block.cells, all = on.declared(on.cells);
  if (!all.contains(points)) {
    fail(Code::usage, "block {} of the mesh '{}' has the points {}, expected points of the mesh, {}; correct lo and hi",
         block.id, on.name, text_of(points), text_of(all));
  }
  for (int a = 0; a < on.dimensions && !points.empty(); ++a) {
    const auto n = static_cast<std::size_t>(a);
    if (on.periodic[n] || points.hi[n] < all.hi[n]) continue;
    if (points.extent(a) == 1) {
      fail(
          Code::usage,
          "block {} of the mesh '{}' has only the last point along {}, {}, above which there is no cell; give it two or "
          "more points, or give this one to its neighbour",
          block.id, on.name, "xyz"[n], points.lo[n]);
    }
    --block.cells.hi[n];
  }
  block.space = on.space_of(block.cells);
}

}  // namespace

void Publisher::check_box(const Mesh& on, const Block& wanted, const BlockCalls& calls) const {
  if (on.is_list()) {
    fail(Code::usage, "{}: blocks of the mesh '{}', which is {}, are lists; call {}", calls.of_boxes, on.name,
         on.geometry->kind(), calls.of_lists);
  }
  const auto steps = static_cast<std::int32_t>(on.refinement.size());
  if (wanted.level < 0 || wanted.level > steps) {
    fail(
        Code::usage,
        "block {} of the mesh '{}' is on level {}, expected 0 to {}, since the mesh declares {} refinement steps; give "
        "it more (`refinement`, set_refinement) or correct the level",
        wanted.id, on.name, wanted.level, steps, steps);
  }
  const Box whole = on.cells_on(wanted.level);
  if (!whole.contains(wanted.cells)) {
    fail(Code::usage, "block {} of the mesh '{}' is {}, expected a box inside the mesh, {}; correct lo and hi",
         wanted.id, on.name, text_of(wanted.cells), text_of(whole));
  }
  for (int a = 0; a < 3; ++a) {
    if (wanted.cells.hi[a] >= wanted.cells.lo[a]) continue;
    fail(Code::usage, "block {} of the mesh '{}' is {}, which ends before it begins; an empty block has hi equal to lo",
         wanted.id, on.name, text_of(wanted.cells));
  }
  check_unused_axes(on, wanted);
}

void Publisher::check_list(const Mesh& on, const Block& wanted, const BlockCalls& calls) const {
  if (!on.is_list()) {
    fail(Code::usage, "{}: blocks of the mesh '{}', which is {}, are boxes; call {}", calls.of_lists, on.name,
         on.geometry->kind(), calls.of_boxes);
  }
  const ListLengths& n = wanted.lengths;
  const Index cells = wanted.cells.hi[0];
  if (n.points < 0 || cells < 0 || n.corners < 0 || n.faces < 0) {
    fail(Code::usage,
         "block {} of the mesh '{}' has {} points, {} cells, {} corners and {} entries of faces; expected 0 or more",
         wanted.id, on.name, n.points, cells, n.corners, n.faces);
  }
  if (on.kind() == MeshKind::points && (cells != n.points || n.corners != 0 || n.faces != 0)) {
    fail(Code::usage,
         "block {} of the mesh '{}', which is points, has {} points, {} cells, {} corners and {} entries of faces; "
         "expected as many cells as points and nothing else",
         wanted.id, on.name, n.points, cells, n.corners, n.faces);
  }
  const auto* tree = dynamic_cast<const OctreeGeometry*>(on.geometry.get());
  if (tree == nullptr) return;
  const Index roots = tree->roots()[0] * tree->roots()[1] * tree->roots()[2];
  const bool counted = n.points == 0 || n.points == cells;
  if (counted && n.corners == 0 && n.faces == 0 && (cells == 0 || cells >= roots)) return;
  fail(Code::usage,
       "block {} of the mesh '{}', which is an octree, has {} cells, {} points, {} corners and {} entries of faces; "
       "expected no cells or at least those of its {} root cells, as many points or none, and nothing else",
       wanted.id, on.name, cells, n.points, n.corners, n.faces, roots);
}

void Publisher::check_fixed(const Mesh& on, std::int64_t id, const char* call) const {
  if (!on.fixed || transport_ == nullptr) return;
  fail(
      Code::usage,
      "{}: block {} of the mesh '{}' is changed after the start, but the mesh is declared fixed; remove `fixed` or leave "
      "the blocks as they are",
      call, id, on.name);
}

/// Checks a block that the program declares, and fills in what its mesh and this client determine.
void Publisher::complete(const Mesh& on, Block& wanted, const BlockCalls& calls) const {
  if (wanted.is_list()) {
    check_list(on, wanted, calls);
    // The number of cells may be given twice, as for particles.
    if (on.kind() == MeshKind::octree) wanted.lengths.points = 0;
  } else {
    complete_axes(on, wanted, calls.of_boxes);
    if (on.owned_points) count_in_cells(on, wanted);
    check_box(on, wanted, calls);
  }
  wanted.mesh = on.id;
  wanted.client = options_.client;
}

/// Makes `wanted` the block of its id, whether there was one or not.
void Publisher::place(const Mesh& on, const Block& wanted) {
  Block& block = blocks_[static_cast<std::size_t>(on.id)][wanted.id];
  if (!(block.lengths == wanted.lengths) || !(block.cells == wanted.cells)) lists_.forget(on.id, wanted.id);
  block = wanted;
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh != on.id) continue;
    Slot& slot = slots_[static_cast<std::size_t>(variable.id)][wanted.id];
    describe(slot, variable, block, variable.points(block));
  }
  tell(block, false);
}

/// Forgets a block and all its arrays.
void Publisher::drop(const Mesh& on, std::int64_t id) {
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh != on.id) continue;
    Slots& slots = slots_[static_cast<std::size_t>(variable.id)];
    Slot& slot = slots.at(id);
    mark_sent(slot);
    if (slot.handle >= 0) handles_[static_cast<std::size_t>(slot.handle)] = nullptr;
    free_numbers_.push_back(slot.record.number);
    slots.erase(id);
  }
  auto& blocks = blocks_[static_cast<std::size_t>(on.id)];
  const auto found = blocks.find(id);
  const Block block = found->second;
  blocks.erase(found);
  tree_bounds_.forget(on.id, id);
  lists_.forget(on.id, id);
  tell(block, true);
}

void Publisher::set_block(std::string_view mesh_name, Block wanted) {
  const Mesh& on = mesh(mesh_name);
  const char* const call = wanted.is_list() ? set_calls.of_lists : set_calls.of_boxes;
  complete(on, wanted, set_calls);
  check_fixed(on, wanted.id, call);
  check_unused(on, wanted.id, call);
  timed(&IterationTiming::publish, [&] { place(on, wanted); });
}

void Publisher::set_block_bounds(std::string_view mesh_name, std::int64_t id, const Bounds& bounds) {
  const Mesh& on = mesh(mesh_name);
  auto& blocks = blocks_[static_cast<std::size_t>(on.id)];
  const auto found = blocks.find(id);
  if (found == blocks.end()) {
    fail(Code::usage, "set_block_bounds: block {} of the mesh '{}' is not declared by this client; declare it first",
         id, mesh_name);
  }
  if (on.axes() != nullptr) {
    fail(Code::usage, "set_block_bounds: where blocks of the mesh '{}', which is {}, are follows from their indices",
         mesh_name, on.geometry->kind());
  }
  check_unused(on, id, "set_block_bounds");
  found->second.bounds = bounds;
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh != on.id) continue;
    BlockRecord& record = slots_[static_cast<std::size_t>(variable.id)].at(id).record;
    record.block.bounds = bounds;
    number(record);
  }
  timed(&IterationTiming::publish, [&] { tell(found->second, false); });
}

void Publisher::remove_block(std::string_view mesh_name, std::int64_t id) {
  const Mesh& on = mesh(mesh_name);
  auto& blocks = blocks_[static_cast<std::size_t>(on.id)];
  const auto found = blocks.find(id);
  if (found == blocks.end()) {
    fail(Code::usage,
         "block {} of the mesh '{}' is removed but was not declared by this client; give the id of set_block", id,
         mesh_name);
  }
  check_fixed(on, id, "remove_block");
  check_unused(on, id, "remove_block");
  timed(&IterationTiming::publish, [&] { drop(on, id); });
}

bool Publisher::has_block(std::string_view variable, std::int64_t id) const {
  const auto number = variable_ids_.find(variable);
  return number != variable_ids_.end() && slots_[static_cast<std::size_t>(number->second)].contains(id);
}

void Publisher::set_allocated(std::string_view variable, std::int64_t id, const Box& box) {
  const Found found = find(variable, id, "set_allocated");
  const Box points = found.slot.record.points();
  if (found.slot.record.block.is_list()) {
    fail(Code::usage,
         "set_allocated: block {} of '{}' is a list and has nothing around it; give points that count elsewhere a flag "
         "(point_ghosts)",
         id, variable);
  }
  if (!box.contains(points)) {
    fail(Code::usage, "the allocated box of '{}' on block {} is {}, expected one that contains the block's points, {}",
         variable, id, text_of(box), text_of(points));
  }
  if (found.slot.record.box == box) return;
  check_unused(found.slot, "set_allocated");
  describe(found.slot, found.variable, found.slot.record.block, box);
}

}  // namespace sidestream
