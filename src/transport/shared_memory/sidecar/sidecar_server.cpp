#include "transport/shared_memory/sidecar/sidecar_server.hpp"

#include <algorithm>

namespace sidestream::shared_memory {

SidecarServer::SidecarServer(std::shared_ptr<Attachment> attachment, double poll)
    : Server(attachment->node(), Open::later, poll),
      attachment_(std::move(attachment)),
      here_(static_cast<std::size_t>(traits().clients), false),
      refused_(here_.size(), 0),
      missing_(here_.size()) {}

void SidecarServer::look_for_clients() {
  for (std::size_t c = 0; c < here_.size() && missing_ > 0; ++c) {
    if (here_[c] || client_control(c).joined.load(std::memory_order_acquire) != attachment_->epoch()) continue;
    const std::int64_t first = client_control(c).first.load(std::memory_order_relaxed);
    here_[c] = true;
    --missing_;
    refused_[c] = first;
    first_ = std::max(first_, first);
    open_ring(c, first);
  }
}

bool SidecarServer::receive(std::chrono::microseconds limit) {
  if (over_) return false;
  if (missing_ > 0) look_for_clients();
  // Checked before the rings are emptied, so that what a client sent before its process ended is still received.
  const bool ended = attachment_->ended();
  const bool any = Server::receive(ended ? std::chrono::microseconds(0) : limit);
  if (start_ >= 0) {
    for (std::size_t c = 0; c < here_.size(); ++c) refuse_early(c);
  }
  if (!ended) return any;
  over_ = true;
  close_clients();
  return true;
}

ServerState SidecarServer::state(std::int64_t index) {
  ServerState known = Server::state(index);
  known.lost = over_ && !attachment_->closed();
  return known;
}

void SidecarServer::refuse_early(std::size_t client) {
  // Announces them one by one as they end, so that a client's counters advance without gaps.
  for (; refused_[client] < std::min(start_, current(client)); ++refused_[client]) {
    client_control(client).announce(refused_[client], Outcome::refused);
    client_control(client).release(refused_[client]);
    forget(refused_[client]);
  }
}

void SidecarServer::start_at(std::int64_t index) {
  start_ = index;
  for (std::size_t c = 0; c < here_.size(); ++c) refuse_early(c);
}

}  // namespace sidestream::shared_memory
