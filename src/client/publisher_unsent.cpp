// Publisher: arrays that could not be handed over yet, and all blocks of a mesh in one call.
//
// An unsent array does not vary in time, and no iteration is complete before it is handed over: servers have the arrays
// of other clients, but not this one. So this client refuses its iterations until then. Values that found no room are
// kept and tried again; failed publications must be repeated.
//
// All blocks of a client on a mesh may be declared in one call:
//
// 1. Each block of the list is checked and completed as by set_block, and compared with the block of its id.
// 2. Blocks that are not in the list are removed, new and changed blocks are placed, all others stay. Removed and
//    changed blocks must not have an array in use.
// 3. Changes are made only after all checks. Removals come first, so that new blocks reuse their numbers and memory.
#include <fmt/format.h>

#include <cstring>
#include <set>

#include "client/publisher.hpp"
#include "client/publisher_parts.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

void Publisher::mark_unsent(Slot& slot) {
  if (!slot.record.persistent || slot.unsent) return;
  slot.unsent = true;
  ++unsent_static_arrays_;
}

void Publisher::mark_sent(Slot& slot) {
  if (!slot.unsent) return;
  slot.unsent = false;
  --unsent_static_arrays_;
  Bytes().swap(slot.waiting);
}

/// Tries to hand over unsent arrays at the end of an iteration that does not publish them.
void Publisher::send_pending_static() {
  for (Slots& slots : slots_) {
    for (auto& [id, slot] : slots) {
      if (slot.unsent) send_pending(slot);
    }
  }
}

void Publisher::send_pending(Slot& slot) {
  std::optional<Region> region;
  try {
    if (slot.waiting.size() == slot.record.bytes) region = reserve_for(slot.record);
  } catch (const Error&) {
    // The block will never fit, which the publication has reported.
  }
  if (!region) return refuse(Refusal::owed);
  transport_->fill(*region, slot.waiting.data(), slot.record.bytes);
  transport_->commit(slot.record, *region, false);
  account_.bytes_published += slot.record.bytes;
  mark_sent(slot);
}

std::string Publisher::refusal() const {
  const std::uint32_t why = refused_ ? refused_ : last_refused_;
  if (why == 0) return {};
  std::string text;
  const auto add = [&](std::uint32_t bit, const std::string& reason) {
    if (why & bit) text += (text.empty() ? "" : ", and ") + reason;
  };
  add(Refusal::no_servers, "there are no servers (with placement sidecar, start some: sidestream serve FILE)");
  add(Refusal::in_flight, "placement.max_in_flight iterations are not released yet (when_full: skip)");
  add(Refusal::no_room, "the buffer has no room (when_full: skip)");
  add(Refusal::call_failed, fmt::format("a call in it failed ({})", failed_call_));
  for (const Slots& slots : slots_) {
    for (const auto& [id, slot] : slots) {
      if (!slot.unsent) continue;
      add(Refusal::owed,
          slot.waiting.empty()
              ? fmt::format("'{}' on block {}, which does not vary in time, was not handed over when it "
                            "was published last; publish it again",
                            name_of(slot), id)
              : fmt::format("'{}' on block {}, which does not vary in time, waits for room", name_of(slot), id));
    }
  }
  return fmt::format("iteration {} is dropped: {}", account_.iterations - (refused_ ? 0 : 1), text);
}

namespace {

constexpr BlockCalls replace_calls{"replace_blocks", "replace_block_lists"};

const char* call_of(const std::vector<Block>& wanted) {
  return !wanted.empty() && wanted.front().is_list() ? replace_calls.of_lists : replace_calls.of_boxes;
}

}  // namespace

/// The completed list. Boxes that stay in place keep their bounds, which set_block_bounds gives.
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
  std::set<std::int64_t> removed;
  std::vector<const Block*> other;
  for (const auto& [id, block] : blocks_[static_cast<std::size_t>(on.id)]) removed.insert(id);
  for (const Block& block : wanted) {
    removed.erase(block.id);
    if (!stays(block)) other.push_back(&block);
  }
  const auto check = [&](std::int64_t id) {
    check_fixed(on, id, call);
    check_unused(on, id, call);
  };
  for (const std::int64_t id : removed) check(id);
  for (const Block* block : other) check(block->id);
  for (const std::int64_t id : removed) drop(on, id);
  for (const Block* block : other) place(on, *block);
}

void Publisher::replace_blocks(std::string_view mesh_name, std::vector<Block> wanted) {
  timed(&IterationTiming::publish, [&] {
    const Mesh& on = mesh(mesh_name);
    replace(on, complete_list(on, std::move(wanted)));
  });
}

}  // namespace sidestream
