// UNIX sockets: messages with bytes and descriptors, addresses without a file, and deadlines of both ends.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "sidestream/kit/base/files.hpp"

namespace sidestream {

// Messages with bytes and descriptors over a UNIX socket.

inline constexpr std::size_t most_descriptors = 3;

/// Sends `bytes` as one message, with at most `most_descriptors` descriptors, which remain the caller's. `flags` as for
/// sendmsg(2). Returns false if it failed, for example because the other end has gone.
[[nodiscard]] bool send_with_descriptors(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors,
                                         int flags = 0) noexcept;

/// The content of one message. Fewer descriptors than were sent: this process has no room for more.
struct Received {
  ssize_t bytes = -1;  ///< 0: the other end has closed; below: an error, see errno
  std::array<Descriptor, most_descriptors> descriptors;
};
/// Waits for a message of at most `bytes`.
[[nodiscard]] Received receive_with_descriptors(int socket, std::span<std::byte> bytes) noexcept;

/// Deadline for waiting.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : end_(std::chrono::steady_clock::now() + limit) {}
  /// Remaining time for poll(2); at least 0.
  [[nodiscard]] int milliseconds_left() const;

 private:
  std::chrono::steady_clock::time_point end_;
};

/// Abstract socket address of that name: leading zero byte, no file.
struct AbstractAddress {
  explicit AbstractAddress(const std::string& name);
  sockaddr_un address{};
  socklen_t length = 0;
};

/// True if the process at the other end runs under this process' effective user.
[[nodiscard]] bool same_user(int connection) noexcept;

}  // namespace sidestream
