// The attacher's end of the socket over which a segment's descriptor travels; SegmentServer is the other end.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "transport/shared_memory/descriptor.hpp"

namespace sidestream::shared_memory {

/// A moment after which waiting is over.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : end_(std::chrono::steady_clock::now() + limit) {}
  /// For poll(2): at least 0.
  [[nodiscard]] int milliseconds_left() const;

 private:
  std::chrono::steady_clock::time_point end_;
};

/// The abstract socket address of that name: leading zero byte, no file.
struct AbstractAddress {
  explicit AbstractAddress(const std::string& name);
  sockaddr_un address{};
  socklen_t length = 0;
};

/// Whether the process at the other end runs under this process' effective user.
[[nodiscard]] bool same_user(int connection) noexcept;

/// The byte by which an attacher says that it has mapped and checked the segment.
inline constexpr char accepted = 'S';

class Handover {
 public:
  /// Connects. Throws Error(system) if nobody listens, the listener is of another user, or after `limit`.
  Handover(const std::string& address, std::chrono::milliseconds limit);
  /// The descriptor, which the caller owns. Throws Error(system) if none comes.
  [[nodiscard]] int receive();
  /// Tells the server that all is well; without it the server learns of a failure when the connection closes.
  void accept() noexcept;

 private:
  void wait_readable();

  std::string address_;
  Deadline deadline_;
  Descriptor socket_;
};

}  // namespace sidestream::shared_memory
