// Helpers for both ends of a UNIX socket without a file.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <string>

namespace sidestream::shared_memory {

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

}  // namespace sidestream::shared_memory
