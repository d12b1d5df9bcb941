#include "transport/shared_memory/sidecar/sidecar_client.hpp"

#include "base/log.hpp"

namespace sidestream::shared_memory {

SidecarClient::SidecarClient(std::shared_ptr<Node> node, std::shared_ptr<Listener> listener, WhenFull when_full,
                             int max_in_flight, std::function<void()> progress, bool talks)
    : node_(std::move(node)),
      listener_(std::move(listener)),
      service_(node_->layout().service(node_->control())),
      client_(node_, when_full, max_in_flight,
              [this, progress = std::move(progress)] {
                look();
                if (progress) progress();
              }),
      talks_(talks) {
  client_.trust_others();
  client_.disconnect(Outcome::refused);
}

/// Checks that this client's servers are still attached; if not, disconnects from them.
void SidecarClient::look() {
  if (!client_.connected() || service_.load() == joined_) return;
  // The word may belong to a group two epochs later. `left_epoch` tells about the last group that left. An earlier one
  // has been replaced, and a client that missed two groups must not guess.
  const bool left = service_.left_epoch.load(std::memory_order_acquire) == ServiceState::epoch_of(joined_);
  client_.disconnect(left ? Outcome::refused : Outcome::lost);
  if (!left) {
    lost_ =
        "the servers of the placement 'sidecar' have ended without leaving; iterations that they had not answered "
        "for are unknown, and iterations are refused until others attach";
  }
}

void SidecarClient::join() {
  const std::uint64_t word = service_.load();
  if (client_.connected() || ServiceState::phase_of(word) != ServiceState::Phase::attached) return;
  joined_ = word;
  client_.connect([&](std::int64_t first) {
    for (Channel& channel : client_.channels()) {
      channel.control().first.store(first, std::memory_order_relaxed);
      channel.control().joined.store(ServiceState::epoch_of(word), std::memory_order_release);
    }
    if (talks_ && (had_servers_ || missing_said_))
      log::info("sidecar: servers attached; they get iteration {} and on", first);
  });
  had_servers_ = true;
  missing_said_ = false;
}

void SidecarClient::say_missing() {
  if (!talks_ || missing_said_ || client_.connected()) return;
  missing_said_ = true;
  if (!lost_.empty()) {
    log::warning("{}", lost_);
  } else {
    log::warning("sidecar: no servers are attached{}; iterations are refused until some attach",
                 had_servers_ ? " any more, they have left" : "");
  }
}

bool SidecarClient::begin() {
  look();
  join();
  const bool ready = client_.begin();
  say_missing();
  return ready;
}

void SidecarClient::end(const EndRecord& record) {
  look();
  client_.end(record);
}

Outcome SidecarClient::outcome(std::int64_t index) {
  look();
  return client_.outcome(index);
}

void SidecarClient::await(std::int64_t index) {
  look();
  client_.await(index);
}

std::string SidecarClient::failure() {
  look();
  if (!lost_.empty()) {
    say_missing();
    return std::exchange(lost_, {});
  }
  return client_.failure();
}

bool SidecarClient::drain(std::chrono::milliseconds limit) {
  look();
  join();  // servers that attached after the last iteration learn that there are no more
  return client_.drain(limit);
}

}  // namespace sidestream::shared_memory
