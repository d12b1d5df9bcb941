#include "transport/shared_memory/sidecar/listener_loop.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.hpp"
#include "base/unix_socket.hpp"
#include "base/waiting.hpp"

namespace sidestream::shared_memory {

namespace {

/// Connections beyond the places belong to servers that were rejected and have not left yet, or to processes that never
/// request anything.
constexpr std::size_t most_connections = 4096;

bool send_answer(int socket, const AttachAnswer& answer, const std::array<int, 3>* descriptors) {
  const std::span<const int> with = descriptors ? std::span<const int>(*descriptors) : std::span<const int>();
  return send_with_descriptors(socket, std::as_bytes(std::span(&answer, 1)), with, MSG_DONTWAIT);
}

}  // namespace

int ListenerLoop::holders() const {
  return static_cast<int>(
      std::count_if(connections_.begin(), connections_.end(), [](const Connection& c) { return c.place >= 0; }));
}

bool ListenerLoop::all_ready() const {
  return std::count_if(connections_.begin(), connections_.end(), [](const Connection& c) { return c.ready; }) ==
         answer_.servers;
}

void ListenerLoop::accept_new() {
  Descriptor socket(above_standard(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
  if (socket.get() < 0) {
    // For example out of descriptors: the connection waits in the queue, and retrying at once would keep a core busy.
    pause_for(std::chrono::milliseconds(10));
    return;
  }
  if (!same_user(socket.get()) || connections_.size() >= most_connections) return;
  connections_.push_back({std::move(socket)});
}

bool ListenerLoop::answer(Connection& connection, const AttachRequest& request) {
  AttachAnswer reply = answer_;
  reply.epoch = epoch_;
  const auto turn_away = [&](AttachAnswer::Status status, const std::string& why) {
    reply.status = status;
    why.copy(reply.reason, sizeof reply.reason - 1);
    static_cast<void>(send_answer(connection.socket.get(), reply, nullptr));
    return false;
  };
  if (request.magic != attach_magic || request.version != attach_version || request.build != shared_memory_build()) {
    return turn_away(AttachAnswer::Status::refused,
                     "the simulation runs another build of Sidestream; run the same one on both sides");
  }
  const bool taken = std::any_of(connections_.begin(), connections_.end(),
                                 [&](const Connection& c) { return c.place == static_cast<int>(request.place); });
  if (holders() > 0 && (request.group != group_ || taken)) {
    return turn_away(AttachAnswer::Status::busy,
                     "other servers are attached to the simulation; stop them first, or run one group");
  }
  if (request.place >= static_cast<std::uint32_t>(answer_.servers)) {
    return turn_away(AttachAnswer::Status::refused,
                     fmt::format("the simulation expects {} servers on each node (placement.per_node), and this is "
                                 "number {}; start as many",
                                 answer_.servers, request.place + 1));
  }
  if (!send_answer(connection.socket.get(), reply, &descriptors_)) return false;
  group_ = request.group;
  connection.place = static_cast<int>(request.place);
  return true;
}

void ListenerLoop::take(Connection& connection, AttachSignal said) {
  bool& flag = said == AttachSignal::go ? connection.ready : connection.leaving;
  if (connection.place < 0 || std::exchange(flag, true)) return;
  if (said == AttachSignal::go && !attached_ && all_ready()) {
    attached_ = true;
    left_ = 0;
    service_.set(++epoch_, ServiceState::Phase::attached);
  }
  // Counted, because those that left first are gone when the last one leaves.
  if (said == AttachSignal::leave && attached_ && ++left_ == answer_.servers) {
    attached_ = false;
    service_.set(epoch_, ServiceState::Phase::left);
  }
}

bool ListenerLoop::receive(Connection& connection) {
  AttachRequest request;
  const ssize_t got = recv(connection.socket.get(), &request, sizeof request, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got == sizeof(AttachRequest) && connection.place == no_place) return answer(connection, request);
  if (got != sizeof(AttachSignal)) return false;
  AttachSignal said{};
  std::memcpy(&said, &request, sizeof said);
  take(connection, said);
  return true;
}

/// Receives a message. A connection that cannot be answered because memory is short is closed, and may try again.
bool ListenerLoop::receive_safely(Connection& connection) noexcept {
  try {
    return receive(connection);
  } catch (const std::exception&) {
    return false;
  }
}

/// Reacts to a lost connection. The first loss of a group frees the clients; the next group may attach when the last
/// server is gone.
void ListenerLoop::lose(const Connection& connection) {
  if (connection.place < 0 || !attached_ || connection.leaving) return;
  attached_ = false;
  service_.set(epoch_, ServiceState::Phase::nobody);
}

void ListenerLoop::run() {
  std::vector<pollfd> entries;
  for (;;) {
    retry_while_out_of_memory([&] {
      entries.assign({{listener_, POLLIN, 0}, {wake_, POLLIN, 0}});
      for (const Connection& connection : connections_) entries.push_back({connection.socket.get(), POLLIN, 0});
    });
    if (poll(entries.data(), entries.size(), -1) < 0) continue;
    if (entries[1].revents) return;
    for (std::size_t n = entries.size(); n-- > 2;) {
      if (entries[n].revents == 0 || receive_safely(connections_[n - 2])) continue;
      lose(connections_[n - 2]);
      connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(n - 2));
    }
    if (entries[0].revents) retry_while_out_of_memory([&] { accept_new(); });
  }
}

}  // namespace sidestream::shared_memory
