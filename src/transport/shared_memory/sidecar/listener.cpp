#include "transport/shared_memory/sidecar/listener.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/files.hpp"
#include "base/own_environment.hpp"
#include "base/unix_socket.hpp"
#include "base/waiting.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"
#include "transport/shared_memory/sidecar/listener_loop.hpp"

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

}  // namespace sidestream::shared_memory
