// Handing a segment's descriptor from its creator to other processes of the node, over a UNIX socket.
//
// 1. The creator listens at a random abstract address (SegmentSender); share_segment broadcasts it.
// 2. An attacher connects (SegmentReceiver). Both sides check that the other is the same user.
// 3. The creator sends the descriptor; the attacher maps it and confirms with one byte.
// 4. A connection that closes without the byte, or the time limit, is an error on the creator.
// share_segment is collective over the node: all processes get the segment, or all throw.
#include "transport/shared_memory/segment_receiver.hpp"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <cerrno>
#include <memory>
#include <vector>

#include "base/mpi/agree.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/base/waiting.hpp"

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
    // EAGAIN: the queue of the listener is full. poll cannot wait for that.
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

namespace {

std::string random_name() {
  std::uint64_t bits[2];
  if (getrandom(bits, sizeof bits, 0) != sizeof bits) fail(Code::system, "getrandom failed: {}", system_text(errno));
  return fmt::format("sidestream-{:016x}{:016x}", bits[0], bits[1]);
}

/// Sends one byte with the descriptor; returns false if the other end is closed.
bool send_descriptor(int connection, int descriptor) {
  return send_with_descriptors(connection, std::as_bytes(std::span(&accepted, 1)), std::span(&descriptor, 1));
}

/// Connections that have the descriptor and have not answered yet, with the listener at index 0.
class Connections {
 public:
  Connections(int listener, int descriptor) : descriptor_(descriptor), entries_{{listener, POLLIN, 0}} {}

  /// Waits for an event; returns false when the time is over.
  bool wait(const Deadline& deadline) {
    const int left = deadline.milliseconds_left();
    const int ready = poll(entries_.data(), entries_.size(), left);
    if (ready < 0 && errno != EINTR) fail(Code::system, "poll failed: {}", system_text(errno));
    return ready > 0 || left > 0;
  }

  void accept_new() {
    if (!(entries_[0].revents & POLLIN)) return;
    Descriptor connection(above_standard(accept4(entries_[0].fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
    if (connection.get() < 0) {
      if (errno == EMFILE || errno == ENFILE) {
        fail(Code::system, "cannot hand out shared memory: the limit of open files is reached (ulimit -n)");
      }
      return;  // it has disconnected again
    }
    if (!same_user(connection.get())) return;
    if (!send_descriptor(connection.get(), descriptor_)) return;
    entries_.push_back({connection.get(), POLLIN, 0});
    owners_.push_back(std::move(connection));
  }

  /// Number of attachers that confirmed success; throws if one closed without.
  int take_answers() {
    int answers = 0;
    for (std::size_t n = entries_.size(); n-- > 1;) {
      if (entries_[n].revents == 0) continue;
      char byte = 0;
      const ssize_t got = recv(entries_[n].fd, &byte, 1, 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got != 1 || byte != accepted) {
        fail(Code::system, "a process took the shared memory and could not use it, or ended; its own message says why");
      }
      ++answers;
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(n));
      owners_.erase(owners_.begin() + static_cast<std::ptrdiff_t>(n) - 1);
    }
    return answers;
  }

 private:
  int descriptor_;
  std::vector<pollfd> entries_;
  std::vector<Descriptor> owners_;  ///< owners of entries_[1] and later
};

}  // namespace

SegmentSender::SegmentSender(const Segment& segment, int attachers)
    : segment_(segment), address_(random_name()), attachers_(attachers) {
  Descriptor listener(above_standard(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  if (listener.get() < 0) {
    fail(Code::system, "cannot make a socket to hand out shared memory: {}", system_text(errno));
  }
  const AbstractAddress at(address_);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), at.length) != 0 ||
      listen(listener.get(), attachers + 1) != 0) {
    fail(Code::system, "cannot listen on a socket to hand out shared memory: {}", system_text(errno));
  }
  listener_ = listener.release();
}

SegmentSender::~SegmentSender() {
  if (listener_ >= 0) close(listener_);
}

void SegmentSender::send(std::chrono::milliseconds limit) {
  const Deadline deadline(limit);
  Connections connections(listener_, segment_.descriptor());
  for (int served = 0; served < attachers_;) {
    if (!connections.wait(deadline)) {
      fail(Code::system,
           "{} of {} processes attached the shared memory within {:.1f} s; the others have ended or never asked",
           served, attachers_, static_cast<double>(limit.count()) / 1000);
    }
    served += connections.take_answers();
    connections.accept_new();
  }
}

}  // namespace sidestream::shared_memory
