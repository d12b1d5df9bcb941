#include "session/opening/wiring.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/mpi/agree.hpp"
#include "base/paths.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "transport/in_process/transport.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/memory_limit.hpp"
#include "transport/shared_memory/server.hpp"
#include "transport/shared_memory/spill/spill_file.hpp"

namespace sidestream {

shared_memory::Extents extents_of(const std::vector<BlockBytes>& sizes) {
  std::vector<std::uint64_t> varying;
  shared_memory::Extents extents;
  for (const BlockBytes& one : sizes) {
    if (one.persistent) {
      extents.keep += shared_memory::block_footprint(one.bytes);
    } else {
      varying.push_back(one.bytes);
    }
  }
  extents.home = shared_memory::home_footprint(varying);
  return extents;
}

namespace {

/// Shares of the node's buffer: what this client needs for one iteration, and what is left beyond the needs of all its
/// clients.
struct Share {
  std::uint64_t mine = 0, rest = 0;
};

/// Collective.
Share share_of_buffer(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                      const std::vector<BlockBytes>& sizes) {
  const shared_memory::Extents extents = extents_of(sizes);
  const std::uint64_t mine = extents.home + extents.keep;
  std::int64_t needed = static_cast<std::int64_t>(mine);
  roles.node_members->sum(std::span(&needed, 1));
  run_collectively(world, [&] {
    if (static_cast<std::uint64_t>(needed) <= placement.buffer) return;
    const std::string at = placement.where.text();
    fail(Code::full,
         "{}{}placement.buffer is {} bytes, but one iteration of the {} clients of a node takes {} bytes; raise "
         "placement.buffer to at least that",
         at, at.empty() ? "" : ": ", placement.buffer, roles.on_node.clients, needed);
  });
  return {mine, placement.buffer - static_cast<std::uint64_t>(needed)};
}

Transports make_inline(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                       const std::vector<BlockBytes>& sizes) {
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  if (placement.mode != PlacementMode::off) {
    const Share share = share_of_buffer(world, roles, placement, sizes);
    limit = share.mine + share.rest / static_cast<std::uint64_t>(std::max(1, roles.on_node.clients));
  }
  auto both = std::make_shared<InProcessTransport>(limit, placement.when_full);
  return {both, both, nullptr, nullptr, nullptr, {}};
}

Transports make_cores(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                      const std::vector<BlockBytes>& sizes) {
  static_cast<void>(share_of_buffer(world, roles, placement, sizes));  // called for its error, which names the place
  std::shared_ptr<shared_memory::Node> node;
  // Each node fails by itself; `run_collectively` makes all fail.
  run_collectively(world, [&] {
    node =
        std::make_shared<shared_memory::Node>(*roles.node_members, roles.on_node, extents_of(sizes), placement.buffer);
  });
  std::unique_ptr<shared_memory::SpillFile> spill = make_spill_file(world, roles, placement, sizes);
  if (roles.server) {
    return {nullptr, std::make_shared<shared_memory::Server>(node, placement.poll), nullptr, nullptr, nullptr, {}};
  }
  const auto progress = [comm = roles.members->comm()] { mpi::progress(comm); };
  auto client = std::make_shared<shared_memory::Client>(node, placement.when_full, placement.max_in_flight, progress);
  if (spill) client->spill_to(std::move(spill));
  return {client, nullptr, nullptr, nullptr, nullptr, {}};
}

/// Clients and forwarders of each node share memory; servers elsewhere take no part in it.
Transports make_nodes_with_memory(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                                  const Metadata& metadata, const std::vector<BlockBytes>& sizes) {
  const Share share = share_of_buffer(world, roles, placement, sizes);
  std::shared_ptr<shared_memory::Node> node;
  std::shared_ptr<shared_memory::SharedLimit> rest;
  run_collectively(world, [&] {
    if (placement.forward == Forward::none) {
      rest = std::make_shared<shared_memory::SharedLimit>(*roles.node_members, share.rest);
      return;
    }
    if (roles.server) return;
    node =
        std::make_shared<shared_memory::Node>(*roles.node_members, roles.on_node, extents_of(sizes), placement.buffer);
  });
  return make_nodes(world, roles, placement, metadata, {share.mine, rest, node});
}

}  // namespace

Transports make_transports(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                           const Metadata& metadata, const std::vector<BlockBytes>& sizes) {
  switch (placement.mode) {
    case PlacementMode::cores:
    case PlacementMode::job:
      return make_cores(world, roles, placement, sizes);
    case PlacementMode::nodes:
      return make_nodes_with_memory(world, roles, placement, metadata, sizes);
    default:
      return make_inline(world, roles, placement, sizes);
  }
}

namespace {

/// The share of `size` bytes for `mine` of `all`. A client that has declared nothing may do so later.
std::uint64_t share_of(std::uint64_t size, std::int64_t mine, std::int64_t all) {
  return static_cast<std::uint64_t>(static_cast<long double>(size) * static_cast<long double>(mine) /
                                    static_cast<long double>(all));
}

}  // namespace

void settle_spilling(PlacementConfig& placement, const std::string& folder) {
  std::string& directory = placement.spill.directory;
  const char* const temporary = std::getenv("TMPDIR");
  if (directory.empty()) directory = temporary != nullptr && *temporary != 0 ? temporary : "/tmp";
  directory = path_from(folder, directory);
}

std::unique_ptr<shared_memory::SpillFile> make_spill_file(MpiCommunicator& world, const Roles& roles,
                                                          const PlacementConfig& placement,
                                                          const std::vector<BlockBytes>& sizes) {
  if (placement.when_full != WhenFull::spill) return nullptr;
  constexpr std::int64_t least = 4096;
  std::int64_t mine = 0;
  if (roles.client) mine = least + static_cast<std::int64_t>(extents_of(sizes).home);
  std::int64_t all = mine;
  roles.node_members->sum(std::span(&all, 1));
  std::unique_ptr<shared_memory::SpillFile> file;
  run_collectively(world, [&] {
    if (!roles.client) return;
    const std::string& folder = placement.spill.directory;
    if (roles.on_node.number == 0) shared_memory::prepare_spill_folder(folder);
    std::filesystem::create_directories(folder);
    file = std::make_unique<shared_memory::SpillFile>(folder, share_of(placement.spill.size, mine, all));
  });
  return file;
}

}  // namespace sidestream
