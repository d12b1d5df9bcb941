#include "session/opening/binding.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.hpp"
#include "base/mpi/agree.hpp"
#include "base/text.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

void bind_to(int core, const PlacementConfig& placement) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = core < CPU_SETSIZE;
  if (known) CPU_SET(core, &set);
  if (known && sched_setaffinity(0, sizeof set, &set) == 0) return;
  const std::string at = placement.where.text();
  fail(
      Code::configuration,
      "{}{}placement.bind names core {}, to which this process cannot be bound ({}); name cores that the job was given",
      at, at.empty() ? "" : ": ", core, known ? system_text(errno) : "there is no such core");
}

/// The host and, if this process is bound to one core, the core.
std::string place() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) != 1) return name;
  return fmt::format("{} core {}", name, sched_getcpu());
}

std::string counted(const RankKind& kind, const char* one) {
  return fmt::format("{} {}{}", kind.count, one, kind.count == 1 ? "" : "s");
}

/// Limits the list, since a job of 10^5 ranks must not have them all in its log, nor on one rank.
constexpr int most = 8;

/// Lists up to eight ranks by their names.
std::string described(const std::vector<MemberMessage>& told, std::byte kind, int count) {
  std::string text;
  int named = 0;
  for (const MemberMessage& message : told) {
    if (message.bytes.at(0) != kind) continue;
    const std::string place(reinterpret_cast<const char*>(message.bytes.data()) + 1, message.bytes.size() - 1);
    text += fmt::format("{}{} ({})", named > 0 ? ", " : count == 1 ? "rank " : "ranks ", message.member, place);
    ++named;
  }
  if (count > named) text += fmt::format(" and {} more", count - named);
  return text;
}

/// Collective: rank 0 logs the placement.
void say_places(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement) {
  constexpr std::byte server{1}, forwarder{2};
  std::vector<MemberMessage> mine;
  if (!roles.client && roles.members->rank() < most) {
    const std::string text = place();
    Bytes bytes(1, roles.server ? server : forwarder);
    const auto more = std::as_bytes(std::span(text));
    bytes.insert(bytes.end(), more.begin(), more.end());
    mine.push_back({0, std::move(bytes)});
  }
  const std::vector<MemberMessage> told = world.exchange(std::move(mine));
  if (world.rank() != 0) return;
  std::string text = fmt::format("{}; {}: {}", counted(roles.clients, "client"), counted(roles.servers, "server"),
                                 described(told, server, roles.servers.count));
  if (roles.forwarders.count > 0) {
    text += fmt::format("; {}: {}", counted(roles.forwarders, "forwarder"),
                        described(told, forwarder, roles.forwarders.count));
  }
  log::info("placement {}: {}", name_of(placement.mode), text);
}

}  // namespace

void bind_servers(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement) {
  run_collectively(world, [&] {
    if (placement.bind.empty() || roles.client) return;
    // Servers and forwarders of a node, in the order of their ranks.
    bind_to(placement.bind[static_cast<std::size_t>(roles.serving_on_node) % placement.bind.size()], placement);
  });
  if (roles.servers.count > 0 && placement.mode != PlacementMode::inline_) say_places(world, roles, placement);
}

}  // namespace sidestream
