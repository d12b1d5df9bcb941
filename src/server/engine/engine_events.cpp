// Events of an iteration: their order, and the tasks that they make due.
#include <algorithm>
#include <functional>
#include <string>

#include "server/engine/engine.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

/// Takes events, also of refused iterations; these take effect in the next iteration that is not refused.
void Engine::take_events(Agreement& agreement) {
  events_.take_bits(agreement.events);
  const ServerState state = parts_.transport.state(next_);
  const Inbox* const inbox = state.ended > 0 ? &state.inbox : nullptr;
  const auto work = [&] { events_.take(inbox, agreement.signals, guarded_); };
  if (!agreement.signals) return retry_while_out_of_memory(work);
  const std::string failure = guarded_.attempt(work);
  if (failure.empty()) return;
  agreement.refused = true;
  agreement.why |= Refusal::on_server;
  complain(index(), "the events of the iteration are lost: " + failure);
}

std::size_t Engine::number_of(const TaskEvent& event) const {
  const auto found = std::find(parts_.events.begin(), parts_.events.end(), event.name);
  return static_cast<std::size_t>(found - parts_.events.begin());
}

/// True if enough clients have raised the task's event, or if the task waits for no event.
bool Engine::is_signalled(const TaskEvent& event) const {
  return event.name.empty() || ((events_.bits(event.from) >> number_of(event)) & 1);
}

}  // namespace sidestream
