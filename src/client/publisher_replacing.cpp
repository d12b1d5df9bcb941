// All blocks of a client on a mesh, declared in one call.
//
// 1. Each block of the list is checked and completed as by set_block, and compared with the block of its id.
// 2. Blocks that are missing in the list go, blocks that are new or differ are placed, all others stay as they are.
//    None of those that go or differ may have an array in use.
// 3. Only then anything changes: blocks go first, so that their numbers and memory serve those that come.
#include <algorithm>
#include <set>

#include "client/publisher.hpp"
#include "client/publisher_parts.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr BlockCalls replace_calls{"replace_blocks", "replace_block_lists"};

const char* call_of(const std::vector<Block>& wanted) {
  return !wanted.empty() && wanted.front().is_list() ? replace_calls.of_lists : replace_calls.of_boxes;
}

}  // namespace

/// The completed list. Boxes that are where they were keep their bounds, which set_block_bounds gives.
std::vector<Block> Publisher::complete_list(const Mesh& on, std::vector<Block> wanted) const {
  const auto& known = blocks_[static_cast<std::size_t>(on.id)];
  std::set<std::int64_t> ids;
  for (Block& block : wanted) {
    complete(on, block, replace_calls);
    if (!ids.insert(block.id).second) {
      fail(Code::usage, "{}: block {} of the mesh '{}' is twice in the list; give each block once", call_of(wanted),
           block.id, on.name);
    }
    if (block.is_list() || block.bounds.known()) continue;
    const auto before = known.find(block.id);
    if (before != known.end() && before->second.same_shape(block)) block.bounds = before->second.bounds;
  }
  return wanted;
}

/// True if this client has declared exactly this block.
bool Publisher::stays(const Block& wanted) const {
  const auto& known = blocks_[static_cast<std::size_t>(wanted.mesh)];
  const auto before = known.find(wanted.id);
  return before != known.end() && before->second == wanted;
}

void Publisher::replace(const Mesh& on, const std::vector<Block>& wanted) {
  const char* const call = call_of(wanted);
  std::set<std::int64_t> gone;
  std::vector<const Block*> other;
  for (const auto& [id, block] : blocks_[static_cast<std::size_t>(on.id)]) gone.insert(id);
  for (const Block& block : wanted) {
    gone.erase(block.id);
    if (!stays(block)) other.push_back(&block);
  }
  const auto check = [&](std::int64_t id) {
    check_fixed(on, id, call);
    check_unused(on, id, call);
  };
  for (const std::int64_t id : gone) check(id);
  for (const Block* block : other) check(block->id);
  for (const std::int64_t id : gone) drop(on, id);
  for (const Block* block : other) place(on, *block);
}

void Publisher::replace_blocks(std::string_view mesh_name, std::vector<Block> wanted) {
  timed(&IterationTiming::publish, [&] {
    const Mesh& on = mesh(mesh_name);
    replace(on, complete_list(on, std::move(wanted)));
  });
}

}  // namespace sidestream
