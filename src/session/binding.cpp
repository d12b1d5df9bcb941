#include "session/binding.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/agree.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"

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
      at, at.empty() ? "" : ": ", core, known ? std::strerror(errno) : "there is no such core");
}

/// The host, and the core if this process is bound to one: where it happens to run otherwise says nothing.
std::string place() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) != 1) return name;
  return fmt::format("{} core {}", name, sched_getcpu());
}

std::string counted(const std::vector<int>& ranks, const char* one) {
  return fmt::format("{} {}{}", ranks.size(), one, ranks.size() == 1 ? "" : "s");
}

/// The job of 10^5 ranks does not want them all in its log, nor on one rank.
constexpr std::size_t most = 8;

/// Whether a rank is among those that are named.
bool is_named(int rank, const std::vector<int>& ranks) {
  const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(most, ranks.size()));
  return std::find(ranks.begin(), end, rank) != end;
}

/// Up to eight ranks by name.
std::string described(const std::vector<std::string>& places, const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t n = 0; n < ranks.size() && n < most; ++n) {
    const std::string& place = places[static_cast<std::size_t>(ranks[n])];
    text += fmt::format("{}{} ({})", n > 0 ? ", " : ranks.size() == 1 ? "rank " : "ranks ", ranks[n], place);
  }
  if (ranks.size() > most) text += fmt::format(" and {} more", ranks.size() - most);
  return text;
}

}  // namespace

void bind_servers(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement) {
  const bool serves = roles.server || roles.forwarder;
  if (!placement.bind.empty()) {
    // Servers and forwarders of a node, in the order of their ranks.
    const auto here = world.group(serves ? roles.node : -1);
    together(world, [&] {
      if (!serves) return;
      bind_to(placement.bind[static_cast<std::size_t>(here->rank()) % placement.bind.size()], placement);
    });
  }
  if (roles.server_ranks.empty() || placement.mode == PlacementMode::inline_) return;
  const bool named = is_named(world.rank(), roles.server_ranks) || is_named(world.rank(), roles.forwarder_ranks);
  const std::string mine = named ? place() : std::string();
  std::vector<std::string> places;
  for (const Bytes& bytes : world.gather(std::as_bytes(std::span(mine)), 0)) {
    places.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  if (world.rank() != 0) return;
  std::string text = fmt::format("{}; {}: {}", counted(roles.client_ranks, "client"),
                                 counted(roles.server_ranks, "server"), described(places, roles.server_ranks));
  if (!roles.forwarder_ranks.empty()) {
    text +=
        fmt::format("; {}: {}", counted(roles.forwarder_ranks, "forwarder"), described(places, roles.forwarder_ranks));
  }
  log::info("placement {}: {}", name_of(placement.mode), text);
}

}  // namespace sidestream
