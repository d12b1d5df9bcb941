// Arrays that do not vary in time and could not be handed over (debts). No iteration is complete before they are.
//
// Other clients have published their arrays, and servers have those. So this client refuses its iterations until it has
// handed over what it owes. Values that found no room are kept and tried again; failed publications must be repeated.
#include "client/publisher_debts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sidestream {

void Publisher::owe(Slot& slot) {
  if (!slot.record.persistent || slot.owed) return;
  slot.owed = true;
  ++debts_;
}

void Publisher::forget_debt(Slot& slot) {
  if (!slot.owed) return;
  slot.owed = false;
  --debts_;
  Bytes().swap(slot.waiting);
}

/// Tries to hand over owed arrays at the end of an iteration that does not publish them.
void Publisher::settle_debts() {
  for (Slots& slots : slots_) {
    for (auto& [id, slot] : slots) {
      if (slot.owed) settle_debt(slot);
    }
  }
}

void Publisher::settle_debt(Slot& slot) {
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
  forget_debt(slot);
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
      if (!slot.owed) continue;
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
