#include "base/unix_socket.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {
constexpr std::size_t control_bytes = CMSG_SPACE(sizeof(int) * most_descriptors);
}

bool send_with_descriptors(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors,
                           int flags) noexcept {
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char space[control_bytes] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  const std::size_t length = std::min(descriptors.size(), most_descriptors) * sizeof(int);
  if (length > 0) {
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(length);
    cmsghdr* control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(length);
    std::memcpy(CMSG_DATA(control), descriptors.data(), length);
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

Received receive_with_descriptors(int socket, std::span<std::byte> bytes) noexcept {
  iovec piece{bytes.data(), bytes.size()};
  alignas(cmsghdr) char space[control_bytes] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  Received received;
  do {
    received.bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (received.bytes < 0 && errno == EINTR);
  const cmsghdr* control = received.bytes > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (!control || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) return received;
  // Padding leaves room for one more descriptor than was asked for; extra ones are closed.
  const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t n = 0; n < count; ++n) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(control) + n * sizeof(int), sizeof number);
    Descriptor one(above_standard(number));
    if (n < most_descriptors) received.descriptors[n] = std::move(one);
  }
  return received;
}

int Deadline::milliseconds_left() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
}

AbstractAddress::AbstractAddress(const std::string& name) {
  if (name.empty() || name.size() >= sizeof address.sun_path) {
    fail(Code::system, "'{}' is no address of shared memory: expected 1 to {} characters", name,
         sizeof address.sun_path - 1);
  }
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

bool same_user(int connection) noexcept {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

}  // namespace sidestream
