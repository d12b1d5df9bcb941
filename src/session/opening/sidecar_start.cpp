#include "session/opening/sidecar_start.hpp"

#include <fmt/format.h>
#include <filesystem>

#include "base/mpi/agree.hpp"
#include "data/derivation.hpp"
#include "session/serving/server_groups.hpp"
#include "sidestream/kit/base/fields.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "transport/mpi/client.hpp"
#include "transport/shared_memory/sidecar/sidecar_client.hpp"

namespace sidestream {

template <>
inline constexpr std::size_t field_count<SidecarSetup> = 7;

namespace {

using shared_memory::ServiceState;

constexpr const char* client_record = own_files::clients_record;

/// Returns the same id on all ranks.
shared_memory::Id session_id(MpiCommunicator& world) {
  shared_memory::Id id{};
  run_collectively(world, [&] {
    if (world.rank() == 0) id = shared_memory::random_id();
  });
  Bytes bytes(bytes_of(id).begin(), bytes_of(id).end());
  world.broadcast(bytes, 0);
  return record_of<shared_memory::Id>(bytes);
}

SidecarSetup setup_of(const Config& config, const Declarations& declarations, const std::string& file, int clients) {
  Declarations all;
  all.metadata = published_part(config.metadata);
  SidecarSetup setup;
  setup.declarations = declarations.encode();
  setup.metadata = all.encode();
  setup.events = config.events;
  setup.file = file;
  setup.directory = config.opening.directory;
  setup.steering = steering_text(config);
  setup.clients = clients;
  return setup;
}

/// Waits until all nodes have servers, or the time is over.
void wait_for_servers(MpiCommunicator& world, const ServiceState& service, const PlacementConfig& placement) {
  const double end = now() + placement.attach_limit;
  bool warned = false;
  for (Backoff backoff(std::chrono::milliseconds(1), std::chrono::milliseconds(50));; backoff.pause()) {
    // Rank 0's clock decides, so that all ranks leave the loop together.
    std::int64_t attached = ServiceState::phase_of(service.load()) == ServiceState::Phase::attached;
    std::int64_t over = world.rank() == 0 && now() >= end;
    world.minimum(std::span(&attached, 1));
    world.maximum(std::span(&over, 1));
    if (attached || over) return;
    if (!warned && world.rank() == 0) {
      log::info("sidecar: waiting up to {:g} s for servers of the session '{}' (sidestream serve FILE)",
                placement.attach_limit, placement.session);
    }
    warned = true;
  }
}

}  // namespace

Transports make_sidecar_transports(MpiCommunicator& world, const Roles& roles, const Config& config,
                                   const Declarations& declarations, const std::string& file, Publisher& publisher) {
  const PlacementConfig& placement = config.opening.placement;
  const std::vector<BlockBytes> sizes = publisher.sizes();
  shared_memory::NodeRole role = roles.on_node;
  role.servers = placement.per_node;
  role.groups = sizes_of(placement.groups);
  std::shared_ptr<shared_memory::Node> node;
  run_collectively(world, [&] {
    node = shared_memory::Node::without_servers(*roles.node_members, role, extents_of(sizes), placement.buffer);
  });
  shared_memory::ListenerOffer offer{session_id(world), roles.node, roles.nodes, {}};
  std::shared_ptr<shared_memory::Listener> listener;
  run_collectively(world, [&] {
    if (roles.node_members->rank() != 0) return;
    offer.declarations = setup_of(config, declarations, file, world.size()).encode();
    const int pretended = placement.pretend_nodes > 0 ? roles.node : -1;
    listener = std::make_shared<shared_memory::Listener>(shared_memory::listener_name(placement.session, pretended),
                                                         node, offer);
  });
  std::unique_ptr<shared_memory::SpillFile> spill = make_spill_file(world, roles, placement, sizes);
  if (placement.attach_limit > 0) wait_for_servers(world, node->layout().service(node->control()), placement);
  const auto progress = [comm = roles.members->comm()] { mpi::progress(comm); };
  Transports transports;
  auto client = std::make_shared<shared_memory::SidecarClient>(node, listener, placement.when_full,
                                                               placement.max_in_flight, progress, world.rank() == 0);
  client->on_join([&publisher](std::uint64_t epoch) { publisher.meet_servers(epoch); });
  if (spill) client->spill_to(std::move(spill));
  transports.client = std::move(client);
  return transports;
}

std::int64_t write_client_records(MpiCommunicator& world, const RunFacts& facts, const OpeningConfig& opening,
                                  Publisher& publisher, RunTables* tables) {
  std::int64_t absent = publisher.account().absent_blocks;
  world.sum(std::span(&absent, 1));
  publisher.close_account(absent);
  std::int64_t dropped = publisher.account().dropped;
  world.maximum(std::span(&dropped, 1));
  Account account = publisher.account();
  std::int64_t bytes_spilled = static_cast<std::int64_t>(account.bytes_spilled);
  world.maximum(std::span(&account.spilled, 1));
  world.sum(std::span(&bytes_spilled, 1));
  account.bytes_spilled = static_cast<std::uint64_t>(bytes_spilled);
  run_collectively(world, [&] {
    if (world.rank() != 0) return;
    // The directory is missing if no server ever came.
    std::error_code error;
    std::filesystem::create_directories(opening.directory, error);
  });
  const bool append = opening.existing == Existing::resume, first = world.rank() == 0;
  const auto leave = [&](const RunTable& table, RowSpool& rows) {
    return write_run_table_together(world, {world.rank(), 0}, opening.directory, table, rows, append);
  };
  if (tables) {
    tables->take(publisher);
    leave(client_tables.timings, tables->timings);
  }
  const bool listed = tables && leave(client_tables.iterations, tables->iterations);
  if (first) warn_of_losses(publisher.account(), 0, listed ? client_tables.iterations.file : "");
  attempt_record(world, [&] {
    if (first) write_record(opening.directory, facts, &account, nullptr, {client_record, ""});
  });
  return dropped;
}

Bytes SidecarSetup::encode() const { return packed_fields(*this); }

SidecarSetup SidecarSetup::decode(BytesView bytes) {
  ByteReader in(bytes, Code::system,
                "the simulation's declarations end too early; run the same build of Sidestream on both sides");
  return unpacked_fields<SidecarSetup>(in);
}

std::string steering_text(const Config& config) {
  std::string text;
  for (const SteeredParameter& parameter : config.steering) {
    text += fmt::format("{} {} {}; ", parameter.name, parameter.is_real() ? "real" : "integer",
                        sidestream::text_of(parameter.initial));
  }
  return text.empty() ? "none" : fmt::format("{}{} iterations ahead", text, config.steering_ahead);
}

}  // namespace sidestream
