#include "transport/shared_memory/segment_receiver.hpp"

#include <poll.h>

#include <cerrno>
#include <cstring>

#include "base/backoff.hpp"
#include "base/fail.hpp"

namespace sidestream::shared_memory {

SegmentReceiver::SegmentReceiver(const std::string& address, std::chrono::milliseconds limit)
    : address_(address), deadline_(limit), socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  if (socket_.get() < 0) fail(Code::system, "cannot make a socket to attach shared memory: {}", std::strerror(errno));
  const AbstractAddress to(address);
  while (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to.address), to.length) != 0) {
    if (errno == EINTR) continue;
    if (errno == ECONNREFUSED) {
      fail(Code::system,
           "cannot attach the shared memory '{}': nobody listens there; the process that made it has ended, or runs "
           "in another network namespace (container) of this machine",
           address);
    }
    if (errno != EAGAIN) {
      fail(Code::system, "cannot attach the shared memory '{}': {}", address, std::strerror(errno));
    }
    // EAGAIN: the queue of the listener is full, and poll cannot wait for that.
    if (deadline_.milliseconds_left() == 0) {
      fail(Code::system, "cannot attach the shared memory '{}': its creator did not take the connection in time",
           address);
    }
    pause_for(std::chrono::milliseconds(1));
  }
  if (!same_user(socket_.get())) {
    fail(Code::system, "cannot attach the shared memory '{}': it belongs to another user", address);
  }
}

void SegmentReceiver::wait_readable() {
  pollfd entry{socket_.get(), POLLIN, 0};
  for (;;) {
    const int left = deadline_.milliseconds_left();
    const int ready = poll(&entry, 1, left);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) fail(Code::system, "poll failed: {}", std::strerror(errno));
    if (left == 0) {
      fail(Code::system, "cannot attach the shared memory '{}': its creator did not answer in time", address_);
    }
  }
}

int SegmentReceiver::receive() {
  wait_readable();
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  ssize_t got = 0;
  do {
    got = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* control = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (!control || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
    // Also what an exhausted descriptor table looks like: the kernel then drops the descriptor and keeps the byte.
    fail(Code::system, "cannot attach the shared memory '{}': {}", address_,
         got <= 0 ? "its creator closed the connection" : "no descriptor came; is the limit of open files reached?");
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(control), sizeof descriptor);
  return descriptor;
}

void SegmentReceiver::accept() noexcept {
  // If the server has gone meanwhile there is nobody to tell; MSG_NOSIGNAL: and nothing to die of.
  [[maybe_unused]] const ssize_t sent = send(socket_.get(), &accepted, 1, MSG_NOSIGNAL);
}

}  // namespace sidestream::shared_memory
