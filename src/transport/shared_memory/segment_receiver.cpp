#include "transport/shared_memory/segment_receiver.hpp"

#include <poll.h>
#include <cerrno>
#include <memory>
#include <string>

#include "base/files.hpp"
#include "base/mpi/agree.hpp"
#include "base/unix_socket.hpp"
#include "base/waiting.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream::shared_memory {

SegmentReceiver::SegmentReceiver(const std::string& address, std::chrono::milliseconds limit)
    : address_(address),
      deadline_(limit),
      socket_(above_standard(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))) {
  if (socket_.get() < 0) fail(Code::system, "cannot make a socket to attach shared memory: {}", system_text(errno));
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
      fail(Code::system, "cannot attach the shared memory '{}': {}", address, system_text(errno));
    }
    // EAGAIN: the queue of the listener is full, for which poll cannot wait.
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
    if (ready < 0 && errno != EINTR) fail(Code::system, "poll failed: {}", system_text(errno));
    if (left == 0) {
      fail(Code::system, "cannot attach the shared memory '{}': its creator did not answer in time", address_);
    }
  }
}

int SegmentReceiver::receive() {
  wait_readable();
  char byte = 0;
  Received received = receive_with_descriptors(socket_.get(), std::as_writable_bytes(std::span(&byte, 1)));
  if (received.descriptors[0].get() < 0) {
    // An exhausted descriptor table looks the same: the kernel then drops the descriptor and keeps the byte.
    fail(Code::system, "cannot attach the shared memory '{}': {}", address_,
         received.bytes <= 0 ? "its creator closed the connection: it has ended, or its limit of open files is reached"
                             : "no descriptor came; is the limit of open files reached?");
  }
  return received.descriptors[0].release();
}

void SegmentReceiver::accept() noexcept {
  // If the creator has ended, nobody needs the answer; MSG_NOSIGNAL prevents a signal then.
  [[maybe_unused]] const ssize_t sent = send(socket_.get(), &accepted, 1, MSG_NOSIGNAL);
}

Segment share_segment(Communicator& node, bool creator, Segment own, std::uint64_t layout) {
  constexpr std::chrono::seconds limit{60};
  std::unique_ptr<SegmentSender> offer;
  Bytes address;
  run_collectively(node, [&] {
    if (!creator) return;
    offer = std::make_unique<SegmentSender>(own, node.size() - 1);
    const auto text = std::as_bytes(std::span(offer->address()));
    address.assign(text.begin(), text.end());
  });
  std::int64_t root = creator ? node.rank() : -1;
  node.maximum(std::span(&root, 1));
  node.broadcast(address, static_cast<int>(root));
  run_collectively(node, [&] {
    if (creator) return offer->send(limit);
    // On failure the creator would wait for this process until its limit.
    retry_while_out_of_memory([&] {
      own = Segment::attach(std::string(reinterpret_cast<const char*>(address.data()), address.size()), layout, limit);
    });
  });
  return own;
}

}  // namespace sidestream::shared_memory
