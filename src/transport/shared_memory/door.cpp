#include "transport/shared_memory/door.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/fail.hpp"
#include "transport/shared_memory/door_keeper.hpp"
#include "transport/shared_memory/handover.hpp"

namespace sidestream::shared_memory {

namespace {

Descriptor listen_at(const std::string& name) {
  Descriptor listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener.get() < 0) fail(Code::system, "cannot make a socket for servers: {}", std::strerror(errno));
  const AbstractAddress at(name);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), at.length) != 0) {
    if (errno == EADDRINUSE) {
      fail(
          Code::usage,
          "another simulation of this user runs on this node with the same session name ('{}' is taken); give each its "
          "own with placement.session",
          name);
    }
    fail(Code::system, "cannot name the socket for servers '{}': {}", name, std::strerror(errno));
  }
  if (::listen(listener.get(), SOMAXCONN) != 0) {
    fail(Code::system, "cannot listen for servers: {}", std::strerror(errno));
  }
  return listener;
}

/// A thread that gets none of the simulation's signals.
template <class Work>
std::thread quiet_thread(Work work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  int error = 0;
  try {
    thread = std::thread(std::move(work));
  } catch (const std::system_error& e) {
    error = e.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) fail(Code::system, "cannot start the thread that servers talk to: {}", std::strerror(error));
  return thread;
}

}  // namespace

Door::Door(const std::string& name, std::shared_ptr<Node> node, const DoorOffer& offer)
    : node_(std::move(node)), listener_(listen_at(name)), wake_(eventfd(0, EFD_CLOEXEC)) {
  if (wake_.get() < 0)
    fail(Code::system, "cannot make an event for the thread that servers talk to: {}", std::strerror(errno));
  declarations_ = Segment::create(offer.declarations.size() + sizeof(std::uint64_t), declarations_layout,
                                  "sidestream-declarations");
  const std::uint64_t size = offer.declarations.size();
  std::memcpy(declarations_.data(), &size, sizeof size);
  std::memcpy(declarations_.data() + sizeof size, offer.declarations.data(), offer.declarations.size());
  DoorAnswer answer;
  answer.status = DoorAnswer::Status::welcome;
  answer.session = offer.session;
  answer.node = offer.node;
  answer.nodes = offer.nodes;
  answer.clients = node_->role().clients;
  answer.servers = node_->role().servers;
  answer.buffer = node_->buffer_segment().bytes();
  const std::array<int, 3> descriptors{node_->control_segment().descriptor(), node_->buffer_segment().descriptor(),
                                       declarations_.descriptor()};
  keeper_ = std::make_unique<DoorKeeper>(listener_.get(), wake_.get(), node_->layout().door(node_->control()), answer,
                                         descriptors);
  thread_ = quiet_thread([keeper = keeper_.get()] { keeper->run(); });
}

Door::~Door() {
  const std::uint64_t one = 1;
  // The counter of an event takes 2^64 of them before a write could fail.
  [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
  thread_.join();
  keeper_->close();
}

}  // namespace sidestream::shared_memory
