// The socket to which servers of a sidecar attach, and the thread that answers them.
//
// 1. listen_at: takes the session's name. If another user holds the name, it takes a random one and leaves a file that
//    leads there; a second session of the same user is an error.
// 2. answer: accepts a server if build, place and group fit, and sends the descriptors of the three segments. All
//    places go to one group.
// 3. take: when all places have said `go`, a new epoch is attached; when all have said `leave`, the group has left in
//    order.
// 4. lose: a connection that ends before that is a lost server, and the clients are freed at once.
// A connection that cannot be served for lack of memory is closed, and may try again; the thread never ends because of
// a server.
#include "transport/shared_memory/sidecar/listener.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "base/unix_socket.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/own_threads.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::shared_memory {

namespace {

/// True if a process of this user listens at that name. A process that has bound it and does not listen yet gets a
/// moment.
bool is_ours(const std::string& name) {
  const AbstractAddress at(name);
  for (int tries = 0; tries < 50; ++tries) {
    const Descriptor socket(above_standard(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&at.address), at.length) == 0) {
      return same_user(socket.get());
    }
    if (errno == EAGAIN) return true;  // its queue is full, so it listens; its user is unknown, so assume it is ours
    if (errno != ECONNREFUSED) return false;
    pause_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// Listens at `name`; returns nothing if it is taken.
std::optional<Descriptor> try_listen(const std::string& name) {
  Descriptor listener(above_standard(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  if (listener.get() < 0) fail(Code::system, "cannot make a socket for servers: {}", system_text(errno));
  const AbstractAddress at(name);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), at.length) != 0) {
    if (errno == EADDRINUSE) return std::nullopt;
    fail(Code::system, "cannot name the socket for servers '{}': {}", name, system_text(errno));
  }
  if (::listen(listener.get(), SOMAXCONN) != 0) {
    fail(Code::system, "cannot listen for servers: {}", system_text(errno));
  }
  return listener;
}

Descriptor listen_at(const std::string& name, std::unique_ptr<AddressFile>& file) {
  if (std::optional<Descriptor> listener = try_listen(name)) return std::move(*listener);
  if (is_ours(name)) {
    fail(Code::usage,
         "another simulation of this user runs on this node with the same session name ('{}' is taken); give each its "
         "own with placement.session",
         name);
  }
  const Id id = random_id();
  const std::string other = fmt::format("sidestream-{:016x}{:016x}", id[0], id[1]);
  std::optional<Descriptor> listener = try_listen(other);
  if (!listener) fail(Code::system, "cannot name the socket for servers '{}': it is taken", other);
  file = std::make_unique<AddressFile>(name, other);
  log::warning("another user of this node holds the name '{}'; servers find this session by a file in {}", name,
               address_directories().front());
  return std::move(*listener);
}

}  // namespace

Listener::Listener(const std::string& name, std::shared_ptr<Node> node, const ListenerOffer& offer)
    : node_(std::move(node)), socket_(listen_at(name, address_file_)), wake_(above_standard(eventfd(0, EFD_CLOEXEC))) {
  if (wake_.get() < 0)
    fail(Code::system, "cannot make an event for the thread that servers talk to: {}", system_text(errno));
  declarations_ = Segment::create(offer.declarations.size() + sizeof(std::uint64_t), declarations_layout,
                                  "sidestream-declarations");
  const std::uint64_t size = offer.declarations.size();
  std::memcpy(declarations_.data(), &size, sizeof size);
  if (size > 0) std::memcpy(declarations_.data() + sizeof size, offer.declarations.data(), size);
  AttachAnswer answer;
  answer.status = AttachAnswer::Status::accepted;
  answer.session = offer.session;
  answer.node = offer.node;
  answer.nodes = offer.nodes;
  answer.clients = node_->role().clients;
  answer.servers = node_->role().servers;
  const std::vector<int>& groups = node_->role().groups;
  std::copy_n(groups.begin(), std::min(groups.size(), answer.groups.size()), answer.groups.begin());
  answer.buffer = node_->buffer_segment().bytes();
  const std::array<int, 3> descriptors{node_->control_segment().descriptor(), node_->buffer_segment().descriptor(),
                                       declarations_.descriptor()};
  loop_ = std::make_unique<ListenerLoop>(socket_.get(), wake_.get(), node_->layout().service(node_->control()), answer,
                                         descriptors);
  try {
    thread_ = thread_without_signals([loop = loop_.get()] { loop->run(); });
  } catch (const std::system_error& e) {
    fail(Code::system, "cannot start the thread that servers talk to: {}", system_text(e.code().value()));
  }
}

Listener::~Listener() {
  const std::uint64_t one = 1;
  // Writing fails only if the event's counter overflows, after 2^64 writes.
  [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
  thread_.join();
  loop_->close();
}

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
  const auto reject = [&](AttachAnswer::Status status, const std::string& why) {
    reply.status = status;
    why.copy(reply.reason, sizeof reply.reason - 1);
    static_cast<void>(send_answer(connection.socket.get(), reply, nullptr));
    return false;
  };
  if (request.magic != attach_magic || request.version != attach_version || request.build != shared_memory_build()) {
    return reject(AttachAnswer::Status::refused,
                  "the simulation runs another build of Sidestream; run the same one on both sides");
  }
  const bool taken = std::any_of(connections_.begin(), connections_.end(),
                                 [&](const Connection& c) { return c.place == static_cast<int>(request.place); });
  if (holders() > 0 && (request.group != group_ || taken)) {
    return reject(AttachAnswer::Status::busy,
                  "other servers are attached to the simulation; stop them first, or run one group");
  }
  if (request.place >= static_cast<std::uint32_t>(answer_.servers)) {
    return reject(AttachAnswer::Status::refused,
                  fmt::format("the simulation expects {} servers on each node (placement.per_node), and this is "
                              "number {}; start as many",
                              answer_.servers, request.place + 1));
  }
  if (!send_answer(connection.socket.get(), reply, &descriptors_)) return false;
  group_ = request.group;
  connection.place = static_cast<int>(request.place);
  return true;
}

void ListenerLoop::take(Connection& connection, AttachSignal received) {
  bool& flag = received == AttachSignal::go ? connection.ready : connection.leaving;
  if (connection.place < 0 || std::exchange(flag, true)) return;
  if (received == AttachSignal::go && !attached_ && all_ready()) {
    attached_ = true;
    left_ = 0;
    service_.set(++epoch_, ServiceState::Phase::attached);
  }
  // Counted, because servers that left first are gone when the last one leaves.
  if (received == AttachSignal::leave && attached_ && ++left_ == answer_.servers) {
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
  AttachSignal received{};
  std::memcpy(&received, &request, sizeof received);
  take(connection, received);
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
