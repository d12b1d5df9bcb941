// Which ranks are clients, servers or forwarders, and who reports to whom.
//
// 1. assign_roles: splits the ranks by node, numbers the nodes, and chooses each rank's role by the placement. Sums and
//    minima over the ranks then count each kind; no rank has a list of all.
// 2. look_up_ranks: asks the process at position k of a directory for the rank of server k, with two sparse exchanges.
// 3. bind_servers: binds servers to cores and logs the placement on rank 0, with at most eight names.
// 4. find_server_assignment: reporters tell their servers which clients they stand for, and servers share who holds
//    whose values.
// All functions are collective. Wrong configurations are errors on every rank.
#include "session/opening/roles.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/mpi/agree.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

std::string at(const PlacementConfig& placement) {
  const std::string text = placement.where.text();
  return text.empty() ? text : text + ": ";
}

std::unique_ptr<MpiCommunicator> split_nodes(const MpiCommunicator& world, int pretended) {
  if (pretended <= 0) return world.split_by_node();
  const std::int64_t n = std::min(pretended, world.size());
  return world.group(static_cast<int>(world.rank() * n / world.size()));
}

/// True for the last ranks of a node, so that rank 0, which prints in most simulations, stays a client.
bool is_last(const MpiCommunicator& world, const MpiCommunicator& node, const PlacementConfig& placement) {
  if (placement.per_node >= node.size()) {
    fail(
        Code::configuration,
        "{}placement.per_node is {}, but a node has only {} of the {} ranks; leave at least one rank for the simulation "
        "or start more ranks on each node",
        at(placement), placement.per_node, node.size(), world.size());
  }
  return node.rank() >= node.size() - placement.per_node;
}

bool is_listed(const MpiCommunicator& world, const PlacementConfig& placement) {
  std::vector<int> ranks = placement.ranks;
  std::sort(ranks.begin(), ranks.end());
  const bool twice = std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
  if (twice || ranks.back() >= world.size()) {
    fail(Code::configuration, "{}placement.ranks names {}, expected different ranks from 0 to {}; correct the list",
         at(placement), twice ? "a rank twice" : fmt::format("rank {}", ranks.back()), world.size() - 1);
  }
  if (static_cast<int>(ranks.size()) >= world.size()) {
    fail(Code::configuration, "{}placement.ranks names all {} ranks; leave at least one for the simulation",
         at(placement), world.size());
  }
  return std::binary_search(ranks.begin(), ranks.end(), world.rank());
}

bool serves_nodes(const MpiCommunicator& world, int node, int nodes, const PlacementConfig& placement) {
  if (!placement.ranks.empty()) return is_listed(world, placement);
  if (placement.whole_nodes > 0) {
    if (placement.whole_nodes >= nodes) {
      fail(
          Code::configuration,
          "{}placement.whole_nodes is {}, but there are only {} nodes; leave at least one for the simulation or start on "
          "more nodes",
          at(placement), placement.whole_nodes, nodes);
    }
    return node >= nodes - placement.whole_nodes;
  }
  if (placement.servers >= world.size()) {
    fail(
        Code::configuration,
        "{}placement.servers is {}, but there are only {} ranks; leave at least one rank for the simulation or start more "
        "ranks",
        at(placement), placement.servers, world.size());
  }
  return world.rank() >= world.size() - placement.servers;
}

/// Numbers the nodes by their lowest rank.
void number_nodes(MpiCommunicator& world, MpiCommunicator& node, Roles& roles) {
  const bool leads = node.rank() == 0;
  std::int64_t nodes = leads;
  const std::int64_t before = world.exclusive_sum(nodes);
  world.sum(std::span(&nodes, 1));
  std::int64_t number = leads ? before : 0;
  node.maximum(std::span(&number, 1));
  roles.nodes = static_cast<int>(nodes);
  roles.node = static_cast<int>(number);
}

/// Counts the ranks of each kind and finds the first of each.
void count_kinds(MpiCommunicator& world, Roles& roles) {
  const std::array<bool, 3> is{roles.client, roles.server, roles.forwarder};
  const std::array<RankKind*, 3> kinds{&roles.clients, &roles.servers, &roles.forwarders};
  std::array<std::int64_t, 3> counts{}, firsts{};
  for (std::size_t k = 0; k < is.size(); ++k) {
    counts[k] = is[k];
    firsts[k] = is[k] ? world.rank() : world.size();
  }
  world.sum(counts);
  world.minimum(firsts);
  for (std::size_t k = 0; k < is.size(); ++k) {
    kinds[k]->count = static_cast<int>(counts[k]);
    kinds[k]->first = counts[k] > 0 ? static_cast<int>(firsts[k]) : -1;
  }
}

/// Finds this rank's place among the ranks of its node that share memory: clients and the ranks that serve them.
void count_on_node(Roles& roles) {
  const bool serves = roles.server || roles.forwarder;
  std::array<std::int64_t, 2> counts{!serves, serves};
  constexpr int half = 32;  // both counts in one sum
  const auto before = roles.node_members->exclusive_sum(serves ? std::int64_t{1} << half : 1);
  roles.node_members->sum(counts);
  roles.on_node.clients = static_cast<int>(counts[0]);
  roles.on_node.servers = static_cast<int>(counts[1]);
  roles.on_node.number = static_cast<int>(serves ? before >> half : before & 0x7fff'ffff);
  roles.on_node.server = serves;
}

/// Chooses the rank that writes this rank's records: a server writes its own and the records of its share of the other
/// ranks.
void find_recorder(MpiCommunicator& world, Roles& roles) {
  roles.recorder = world.rank();
  if (roles.servers.count == 0) return;
  std::vector<int> asked;
  if (!roles.server) {
    asked.push_back(static_cast<int>(std::int64_t{world.rank()} * roles.servers.count / world.size()));
  }
  const std::vector<int> ranks = look_up_ranks(world, roles.server ? roles.members->rank() : -1, asked);
  if (!ranks.empty()) roles.recorder = ranks.front();
}

/// The number of nodes from the environment, otherwise `configured`.
int pretended_nodes(int configured) {
  const char* value = std::getenv("SIDESTREAM_PRETEND_NODES");
  if (!value || !*value) return configured;
  const int nodes = whole_of<int>(value).value_or(0);
  if (nodes < 1 || nodes > 1'000'000) {
    fail(Code::configuration, "SIDESTREAM_PRETEND_NODES is '{}', expected a whole number from 1; correct or unset it",
         value);
  }
  return nodes;
}

}  // namespace

void agree_on_nodes(MpiCommunicator& world, PlacementConfig& placement) {
  std::int64_t nodes = 0;
  run_collectively(world, [&] {
    if (world.rank() == 0) nodes = pretended_nodes(placement.pretend_nodes);
  });
  world.maximum(std::span(&nodes, 1));
  placement.pretend_nodes = static_cast<int>(nodes);
}

Roles assign_roles(MpiCommunicator& world, const PlacementConfig& placement) {
  Roles roles;
  std::unique_ptr<MpiCommunicator> node = split_nodes(world, placement.pretend_nodes);
  number_nodes(world, *node, roles);
  const bool nodes = placement.mode == PlacementMode::nodes;
  const bool forwards = nodes && placement.forward != Forward::none;
  run_collectively(world, [&] {
    const bool by_node = placement.mode == PlacementMode::cores || placement.mode == PlacementMode::job;
    if (by_node) roles.server = is_last(world, *node, placement);
    if (nodes) roles.server = serves_nodes(world, roles.node, roles.nodes, placement);
  });
  // With forwarders, servers share no memory with clients; a node that only has servers has no forwarder.
  if (forwards) roles.node_members = node->group(roles.server ? 1 : 0);
  MpiCommunicator& node_members = forwards ? *roles.node_members : *node;
  run_collectively(world, [&] {
    if (forwards && !roles.server) roles.forwarder = is_last(world, node_members, placement);
  });
  roles.client = !roles.server && !roles.forwarder;
  roles.serving_on_node = static_cast<int>(node->exclusive_sum(roles.client ? 0 : 1));
  if (!forwards) roles.node_members = std::move(node);
  roles.members = world.group(roles.server ? 1 : roles.forwarder ? 2 : 0);
  count_kinds(world, roles);
  count_on_node(roles);
  find_recorder(world, roles);
  if (placement.mode == PlacementMode::inline_) roles.servers = roles.clients;
  return roles;
}

std::vector<int> look_up_ranks(Communicator& all, int mine, const std::vector<int>& asked) {
  constexpr std::byte tells{1}, asks{2};
  std::vector<MemberMessage> to;
  if (mine >= 0) to.push_back({mine, Bytes(1, tells)});
  for (const int number : asked) to.push_back({number, Bytes(1, asks)});
  const std::vector<MemberMessage> received = all.exchange(std::move(to));
  const auto known =
      std::find_if(received.begin(), received.end(), [&](const auto& m) { return m.bytes.at(0) == tells; });
  std::vector<MemberMessage> answers;
  for (const MemberMessage& message : received) {
    if (message.bytes.at(0) != asks) continue;
    if (known == received.end()) fail(Code::internal, "nobody has the number {} that was asked for", all.rank());
    const BytesView bytes = bytes_of(known->member);
    answers.push_back({message.member, Bytes(bytes.begin(), bytes.end())});
  }
  std::vector<int> ranks(asked.size(), -1);
  for (const MemberMessage& message : all.exchange(std::move(answers))) {
    const auto at = std::find(asked.begin(), asked.end(), message.member);
    ranks.at(static_cast<std::size_t>(at - asked.begin())) = record_of<int>(message.bytes);
  }
  return ranks;
}

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

/// Longest list: a job of 10^5 ranks must have them all neither in its log nor on one rank.
constexpr int most = 8;

/// Lists up to eight ranks by their names.
std::string described(const std::vector<MemberMessage>& received, std::byte kind, int count) {
  std::string text;
  int named = 0;
  for (const MemberMessage& message : received) {
    if (message.bytes.at(0) != kind) continue;
    const std::string place(reinterpret_cast<const char*>(message.bytes.data()) + 1, message.bytes.size() - 1);
    text += fmt::format("{}{} ({})", named > 0 ? ", " : count == 1 ? "rank " : "ranks ", message.member, place);
    ++named;
  }
  if (count > named) text += fmt::format(" and {} more", count - named);
  return text;
}

/// Logs the placement on rank 0. Collective.
void log_placement(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement) {
  constexpr std::byte server{1}, forwarder{2};
  std::vector<MemberMessage> mine;
  if (!roles.client && roles.members->rank() < most) {
    const std::string text = place();
    Bytes bytes(1 + text.size(), roles.server ? server : forwarder);
    std::ranges::copy(std::as_bytes(std::span(text)), bytes.begin() + 1);
    mine.push_back({0, std::move(bytes)});
  }
  const std::vector<MemberMessage> received = world.exchange(std::move(mine));
  if (world.rank() != 0) return;
  std::string text = fmt::format("{}; {}: {}", counted(roles.clients, "client"), counted(roles.servers, "server"),
                                 described(received, server, roles.servers.count));
  if (roles.forwarders.count > 0) {
    text += fmt::format("; {}: {}", counted(roles.forwarders, "forwarder"),
                        described(received, forwarder, roles.forwarders.count));
  }
  log::info("placement {}: {}", name_of(placement.mode), text);
}

}  // namespace

void bind_servers(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement) {
  run_collectively(world, [&] {
    if (placement.bind.empty() || roles.client) return;
    // Servers and forwarders of a node take cores in the order of their ranks.
    bind_to(placement.bind[static_cast<std::size_t>(roles.serving_on_node) % placement.bind.size()], placement);
  });
  if (roles.servers.count > 0 && placement.mode != PlacementMode::inline_) log_placement(world, roles, placement);
}

namespace {

/// A client and the rank that has its values.
struct Holding {
  std::int32_t client;
  std::int32_t rank;
};

/// Merges the servers' knowledge of their own clients, sorted by client. Collective over the servers.
std::vector<int> share_holders(MpiCommunicator& servers, const std::vector<Holding>& mine) {
  std::vector<Holding> all;
  for (const Bytes& bytes : servers.all_gather(std::as_bytes(std::span(mine)))) {
    const std::vector<Holding> some = records_of<Holding>(bytes);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::vector<int> holders(all.size(), -1);
  for (const Holding& one : all) holders.at(static_cast<std::size_t>(one.client)) = one.rank;
  return holders;
}

}  // namespace

std::vector<int> Reporting::unreported_servers(int reporter) const {
  std::vector<int> numbers;
  for (std::int64_t server = reporter; server < servers; server += reporters) {
    // The first reporter whose server is this or a later one.
    const std::int64_t first = (server * reporters + servers - 1) / servers;
    const bool reported_to = first < reporters && contact_of(static_cast<int>(first)) == server;
    if (!reported_to) numbers.push_back(static_cast<int>(server));
  }
  return numbers;
}

ServerAssignment find_server_assignment(MpiCommunicator& all, MpiCommunicator* servers, const Reporting& reporting,
                                        const ContactRole& role, bool pushed) {
  std::vector<int> asked;
  if (role.reports) {
    asked.push_back(reporting.contact_of(role.number));
    if (role.notifies_unreported) {
      for (const int number : reporting.unreported_servers(role.number)) asked.push_back(number);
    }
  }
  ServerAssignment assignment;
  assignment.unreported = look_up_ranks(all, role.server ? role.number : -1, asked);
  std::vector<MemberMessage> to;
  for (const int rank : assignment.unreported) to.push_back({rank, bytes_of(role.clients)});
  if (role.reports) {
    assignment.server = assignment.unreported.front();
    assignment.unreported.erase(assignment.unreported.begin());
  }
  std::vector<Holding> holdings;
  for (const MemberMessage& message : all.exchange(std::move(to))) {
    assignment.reporters.push_back(message.member);
    for (const std::int32_t client : records_of<std::int32_t>(message.bytes))
      holdings.push_back({client, pushed ? all.rank() : message.member});
  }
  if (servers) assignment.holders = share_holders(*servers, holdings);
  return assignment;
}

}  // namespace sidestream
