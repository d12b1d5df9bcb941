// A file descriptor that closes itself.
#pragma once

#include <sys/types.h>
#include <unistd.h>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace sidestream {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

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

}  // namespace sidestream
