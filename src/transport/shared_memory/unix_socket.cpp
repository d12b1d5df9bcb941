#include "transport/shared_memory/unix_socket.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::shared_memory {

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

}  // namespace sidestream::shared_memory
