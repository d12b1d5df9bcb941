#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include "base/files.hpp"
#include "base/unix_socket.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"
#include "transport/shared_memory/segment.hpp"
#include "transport/shared_memory/segment_receiver.hpp"

namespace sidestream::shared_memory {
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
