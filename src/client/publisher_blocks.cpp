// The blocks of a publisher: declared, changed, removed.
#include "base/fail.hpp"
#include "client/publisher.hpp"
#include "client/publisher_timed.hpp"
#include "client/sentences.hpp"

namespace sidestream {

const Mesh& Publisher::mesh(std::string_view name) const {
  const Mesh* found = metadata_.find_mesh(name);
  if (!found) {
    fail(Code::usage, "the mesh '{}' is not declared{}; declare it in the configuration or by a call", name,
         near_to(name, names_of(metadata_.meshes)));
  }
  return *found;
}

/// Throws if an array of the block is in use: what was allocated or handed over describes the block as it was.
void Publisher::check_unused(const Mesh& on, std::int64_t id, const char* call) const {
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh != on.id) continue;
    const Slots& slots = slots_[static_cast<std::size_t>(variable.id)];
    const auto slot = slots.find(id);
    if (slot != slots.end()) check_unused(variable, id, slot->second, call);
  }
}

void Publisher::check_unused(const Variable& variable, std::int64_t id, const Slot& slot, const char* call) const {
  if (slot.state != Slot::State::none) {
    fail(Code::usage, "{}: '{}' is {} on block {}; clear it first", call, variable.name,
         slot.state == Slot::State::allocated ? "allocated" : "committed", id);
  }
  if (slot.published_in == account_.iterations) {
    fail(Code::usage,
         "{}: '{}' was published on block {} in this iteration; change blocks before the first publication", call,
         variable.name, id);
  }
}

/// Declarations reach the servers in a refused iteration too: the next one relies on them.
void Publisher::tell(const Block& block, bool removed) {
  if (!transport_ || options_.off) return;
  timed(&IterationTiming::publish, [&] {
    static_cast<void>(begin());
    transport_->declare(block, removed);
  });
}

void Publisher::set_block(std::string_view mesh_name, std::int64_t id, const Box& cells) {
  const Mesh& on = mesh(mesh_name);
  if (!on.cells.contains(cells)) {
    fail(Code::usage, "block {} of the mesh '{}' is {}, expected a box inside the mesh, {}; correct lo and hi", id,
         mesh_name, text_of(cells), text_of(on.cells));
  }
  for (int a = 0; a < 3; ++a) {
    if (cells.hi[a] >= cells.lo[a]) continue;
    fail(Code::usage, "block {} of the mesh '{}' is {}, which ends before it begins; an empty block has hi equal to lo",
         id, mesh_name, text_of(cells));
  }
  check_unused(on, id, "set_block");
  Block& block = blocks_[static_cast<std::size_t>(on.id)][id];
  block = Block{id, on.id, 0, options_.client, 0, cells};
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh != on.id) continue;
    Slot& slot = slots_[static_cast<std::size_t>(variable.id)][id];
    slot.box = variable.points(cells);
    slot.block = &block;
  }
  tell(block, false);
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
  check_unused(on, id, "remove_block");
  for (const Variable& variable : metadata_.variables) {
    if (variable.mesh == on.id) slots_[static_cast<std::size_t>(variable.id)].erase(id);
  }
  const Block block = found->second;
  blocks.erase(found);
  tell(block, true);
}

void Publisher::set_allocated(std::string_view variable, std::int64_t id, const Box& box) {
  const Found found = find(variable, id, "set_allocated");
  const Box points = found.variable.points(found.block.cells);
  if (!box.contains(points)) {
    fail(Code::usage, "the allocated box of '{}' on block {} is {}, expected one that contains the block's points, {}",
         variable, id, text_of(box), text_of(points));
  }
  check_unused(found.variable, id, found.slot, "set_allocated");
  found.slot.box = box;
}

}  // namespace sidestream
