#include "transport/shared_memory/server.hpp"

#include <algorithm>

namespace sidestream::shared_memory {

namespace {
int count_clients(const NodeRole& role) {
  int count = 0;
  for (int c = 0; c < role.clients; ++c) count += server_of(c, role) == role.number;
  return count;
}
}  // namespace

Server::Server(std::shared_ptr<Node> node, Open open)
    : node_(std::move(node)),
      box_(node_->layout().server(node_->control(), static_cast<std::uint32_t>(node_->role().number))),
      rings_(static_cast<std::size_t>(count_clients(node_->role()))),
      store_(count_clients(node_->role())) {
  const NodeRole& role = node_->role();
  while (first_client_ < role.clients && server_of(first_client_, role) != role.number) ++first_client_;
  for (std::size_t c = 0; c < rings_.size() && open == Open::now; ++c) open_ring(c, 0);
  box_.heart.start();
}

void Server::open_ring(std::size_t client, std::int64_t first) {
  rings_[client].emplace(node_->layout().ring(node_->control(), static_cast<std::uint32_t>(first_client_) +
                                                                    static_cast<std::uint32_t>(client)),
                         node_->layout().ring_capacity);
  store_.begin_at(static_cast<int>(client), first);
}

ClientBox& Server::client_box(std::size_t client) const noexcept {
  return node_->layout().client(node_->control(),
                                static_cast<std::uint32_t>(first_client_) + static_cast<std::uint32_t>(client));
}

void Server::close_clients() {
  for (int c = 0; c < store_.clients(); ++c) store_.close(c);
}

void Server::take(int client, const Message& message) {
  if (!store_.take(client, message)) store_.add(client, Arrival{message.block, node_->buffer() + message.offset});
}

bool Server::receive(std::chrono::microseconds limit) {
  const auto pop_all = [&] {
    bool any = false;
    Message message;
    for (std::size_t c = 0; c < rings_.size(); ++c) {
      while (rings_[c] && rings_[c]->try_pop(message)) {
        take(static_cast<int>(c), message);
        any = true;
      }
    }
    return any;
  };
  if (pop_all()) return true;
  if (limit.count() == 0) return false;
  const auto ready = [&] {
    return std::any_of(rings_.begin(), rings_.end(), [](auto& ring) { return ring && !ring->empty(); });
  };
  box_.bell.wait(ready, limit);
  return pop_all();
}

void Server::release(std::int64_t index, Outcome outcome) {
  store_.drop(index);
  for (std::size_t c = 0; c < rings_.size(); ++c) {
    client_box(c).announce(index, outcome);
    client_box(c).release(index);
  }
}

}  // namespace sidestream::shared_memory
