#include "transport/shared_memory/sidecar/sidecar_client.hpp"

#include "sidestream/kit/base/log.hpp"

namespace sidestream::shared_memory {

SidecarClient::SidecarClient(std::shared_ptr<Node> node, std::shared_ptr<Listener> listener, WhenFull when_full,
                             int max_in_flight, std::function<void()> progress, bool talks)
    : Client(node, when_full, max_in_flight,
             [this, progress = std::move(progress)] {
               look_for_servers();
               if (progress) progress();
             }),
      listener_(std::move(listener)),
      service_(node->layout().service(node->control())),
      talks_(talks) {
  trust_others();
  disconnect(Outcome::refused);
}

/// Checks that this client's servers are still attached; if not, disconnects from them.
void SidecarClient::look_for_servers() {
  if (!status().connected || service_.load() == joined_) return;
  // The word may already describe a group two epochs later. `left_epoch` tells about the last group that left in order.
  // Earlier values are overwritten, and a client that missed two groups must not guess.
  const bool left = service_.left_epoch.load(std::memory_order_acquire) == ServiceState::epoch_of(joined_);
  disconnect(left ? Outcome::refused : Outcome::lost);
  if (!left) {
    lost_ =
        "the servers of the placement 'sidecar' have ended without leaving; iterations that they had not answered "
        "for are unknown, and iterations are refused until others attach";
  }
}

void SidecarClient::join() {
  const std::uint64_t word = service_.load();
  if (status().connected || ServiceState::phase_of(word) != ServiceState::Phase::attached) return;
  joined_ = word;
  const LogScope scope = logging();
  connect([&](std::int64_t first) {
    for (Channel& channel : channels()) {
      channel.control().first.store(first, std::memory_order_relaxed);
      channel.control().joined.store(ServiceState::epoch_of(word), std::memory_order_release);
    }
    if (talks_ && (had_servers_ || missing_said_))
      log::info("sidecar: servers attached; they get iteration {} and on", first);
  });
  if (on_join_) on_join_(ServiceState::epoch_of(word));
  had_servers_ = true;
  missing_said_ = false;
}

void SidecarClient::warn_of_missing_servers() {
  if (!talks_ || missing_said_ || status().connected) return;
  missing_said_ = true;
  const LogScope scope = logging();
  if (!lost_.empty()) {
    log::warning("{}", lost_);
  } else {
    log::warning("sidecar: no servers are attached{}; iterations are refused until some attach",
                 had_servers_ ? " any more, they have left" : "");
  }
}

bool SidecarClient::begin() {
  look_for_servers();
  join();
  const bool ready = Client::begin();
  warn_of_missing_servers();
  return ready;
}

void SidecarClient::end(const EndRecord& record) {
  look_for_servers();
  Client::end(record);
}

Settled SidecarClient::outcome(std::int64_t index) {
  look_for_servers();
  return Client::outcome(index);
}

void SidecarClient::await(std::int64_t index) {
  look_for_servers();
  Client::await(index);
}

News SidecarClient::news() {
  look_for_servers();
  return Client::news();
}

std::string SidecarClient::next_failure() {
  if (lost_.empty()) return Client::next_failure();
  warn_of_missing_servers();
  return std::exchange(lost_, {});
}

bool SidecarClient::drain(std::chrono::milliseconds limit) {
  look_for_servers();
  join();  // servers that attached after the last iteration learn that there are no more
  return Client::drain(limit);
}

}  // namespace sidestream::shared_memory
