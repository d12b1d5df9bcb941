#include "transport/shared_memory/sidecar/attach_protocol.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/text.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/hash.hpp"
#include "sidestream/version.h"
#include "transport/message.hpp"
#include "transport/shared_memory/control.hpp"

namespace sidestream::shared_memory {

Id random_id() {
  Id id{};
  if (getrandom(id.data(), sizeof id, 0) != sizeof id) fail(Code::system, "getrandom failed: {}", system_text(errno));
  return id;
}

std::uint64_t shared_memory_build() noexcept {
  Hash hash(control_layout(1, 1, 1, sizeof(MessageLine), 0).hash);
  hash.add(std::string_view(SIDESTREAM_VERSION));
  return hash.value();
}

std::string listener_name(const std::string& session, int pretended) {
  std::string name = fmt::format("sidestream-sidecar-{}-{}", geteuid(), session);
  if (pretended >= 0) name += fmt::format("-{}", pretended);
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (name.size() > longest || session.empty()) {
    fail(Code::configuration, "placement.session is '{}', {} characters; expected 1 to {}", session, session.size(),
         session.size() - (name.size() > longest ? name.size() - longest : 0));
  }
  return name;
}

}  // namespace sidestream::shared_memory
