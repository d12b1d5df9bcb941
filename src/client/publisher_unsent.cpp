// Arrays that do not vary in time and could not be handed over. No iteration is complete before they are.
//
// Other clients have published their arrays, and servers have those. So this client refuses its iterations until it has
// handed over its own. Values that found no room are kept and tried again; failed publications must be repeated.
#include "client/publisher_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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
    if (slot.waiting.size() == slot.record.bytes) region = room_for(slot.record);
  } catch (const Error&) {
    // It will never fit; the publication has reported that already.
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

}  // namespace sidestream
