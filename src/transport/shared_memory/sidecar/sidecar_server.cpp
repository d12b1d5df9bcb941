// A server that attaches to a simulation in the middle of its run.
//
// 1. attempt: connects to the listener, by its name or by the address file, and sends a request. It maps the segments
//    that come with the answer, and checks their layout. No listener, or one that vanishes, is `nobody`; the caller
//    tries again.
// 2. look_for_clients: each client that has joined this epoch gets its ring opened at its first iteration.
// 3. start_at: the servers have agreed on the first iteration; earlier ones are refused, client by client, as they end.
// 4. receive: after the connection has ended, reads what the rings still hold, and then closes all clients.
#include "transport/shared_memory/sidecar/sidecar_server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/unix_socket.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"

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

namespace {

constexpr std::chrono::seconds answer_limit{10};

/// Connects to a listener; returns an empty descriptor if nobody listens.
Descriptor connect_to(const std::string& name) {
  Descriptor socket(above_standard(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)));
  if (socket.get() < 0) fail(Code::system, "cannot make a socket to attach: {}", system_text(errno));
  const AbstractAddress to(name);
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to.address), to.length) != 0) {
    if (errno == EINTR) continue;
    if (errno == ECONNREFUSED || errno == EAGAIN) return Descriptor();
    fail(Code::system, "cannot attach to '{}': {}", name, system_text(errno));
  }
  return socket;
}

/// Receives the answer; returns false if the connection ended before it was complete.
bool receive_answer(int socket, AttachAnswer& answer, std::array<Descriptor, 3>& files) {
  pollfd entry{socket, POLLIN, 0};
  const Deadline deadline(answer_limit);
  while (poll(&entry, 1, deadline.milliseconds_left()) <= 0) {
    if (deadline.milliseconds_left() == 0) return false;
  }
  Received received = receive_with_descriptors(socket, std::as_writable_bytes(std::span(&answer, 1)));
  files = std::move(received.descriptors);
  return received.bytes == sizeof answer;
}

/// Maps the received segments as a server of this node: only control is writable.
std::shared_ptr<Node> map_node(const std::string& name, const AttachAnswer& answer, int place,
                               std::array<Descriptor, 3>& files) {
  NodeRole role{true, place, answer.clients, answer.servers};
  std::copy_if(answer.groups.begin(), answer.groups.end(), std::back_inserter(role.groups),
               [](std::int32_t size) { return size > 0; });
  const ControlLayout layout = control_layout(channels_of(role), static_cast<std::uint32_t>(answer.servers),
                                              Node::ring_capacity, sizeof(MessageLine), answer.buffer);
  Segment control = Segment::adopt(files[0].release(), layout.hash, name, true);
  Segment buffer = Segment::adopt(files[1].release(), layout.hash, name, false);
  return std::make_shared<Node>(role, layout, std::move(control), std::move(buffer));
}

}  // namespace

Attachment::Attachment(Descriptor socket, const AttachAnswer& answer, std::shared_ptr<Node> node, Segment declarations)
    : socket_(std::move(socket)), answer_(answer), node_(std::move(node)), declarations_(std::move(declarations)) {}

Attachment::Attempt Attachment::attempt(const std::string& name, const AttachRequest& request) {
  Descriptor socket = connect_to(name);
  if (socket.get() < 0 || !same_user(socket.get())) {
    // Another user may hold the name, listening or not. The simulation then listens elsewhere, or has not started yet.
    const std::optional<std::string> recorded = recorded_address(name);
    if (!recorded) return {};
    socket = connect_to(*recorded);
    if (socket.get() < 0 || !same_user(socket.get())) return {};
  }
  if (send(socket.get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request) return {};
  AttachAnswer answer;
  std::array<Descriptor, 3> files;
  // A listener that disappears before it answers counts as none.
  if (!receive_answer(socket.get(), answer, files)) return {};
  if (answer.magic != attach_magic || answer.version != attach_version) {
    return {Attempt::Result::refused, "the simulation runs another version of Sidestream; run the same on both sides",
            nullptr};
  }
  if (answer.status != AttachAnswer::Status::accepted) {
    answer.reason[sizeof answer.reason - 1] = 0;
    const bool busy = answer.status == AttachAnswer::Status::busy;
    return {busy ? Attempt::Result::busy : Attempt::Result::refused, answer.reason, nullptr};
  }
  if (files[2].get() < 0) {
    fail(Code::system, "'{}' handed over no shared memory; is the limit of open files reached (ulimit -n)?", name);
  }
  auto node = map_node(name, answer, static_cast<int>(request.place), files);
  Segment declarations = Segment::adopt(files[2].release(), declarations_layout, name, false);
  Attempt done{Attempt::Result::accepted, {}, nullptr};
  done.attachment.reset(new Attachment(std::move(socket), answer, std::move(node), std::move(declarations)));
  return done;
}

BytesView Attachment::declarations() const noexcept {
  std::uint64_t size = 0;
  std::memcpy(&size, declarations_.data(), sizeof size);
  return {declarations_.data() + sizeof size, size};
}

void Attachment::signal(AttachSignal what) noexcept {
  // If the simulation has ended nobody needs the signal; `ended` detects that.
  [[maybe_unused]] const auto sent = send(socket_.get(), &what, sizeof what, MSG_NOSIGNAL);
}

bool Attachment::ended() noexcept {
  if (ended_) return true;
  char byte = 0;
  const ssize_t got = recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
  // The listener sends nothing after its answer, so any result but "nothing yet" is the end.
  ended_ = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  return ended_;
}

bool Attachment::closed() const noexcept {
  return ServiceState::phase_of(node_->layout().service(node_->control()).load()) == ServiceState::Phase::closed;
}

void Attachment::hang_up() noexcept { ::shutdown(socket_.get(), SHUT_RDWR); }

bool Attachment::broken() const noexcept {
  return ServiceState::phase_of(node_->layout().service(node_->control()).load()) == ServiceState::Phase::nobody;
}

}  // namespace sidestream::shared_memory
