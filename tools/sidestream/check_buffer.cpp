#include "check_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "config/groups.hpp"
#include "config/options/document.hpp"
#include "config/options/option_text.hpp"
#include "session/opening/wiring.hpp"
#include "sidestream/data/array.hpp"

namespace sidestream {

namespace {

std::int64_t bytes_of_mesh(const Variable& variable, const Metadata& metadata) {
  const Box points = metadata.mesh_of(variable).points(variable.centering);
  return static_cast<std::int64_t>(packed_bytes(points, variable.components, variable.type));
}

constexpr std::int64_t divided(std::int64_t bytes, std::int64_t parts) { return (bytes + parts - 1) / parts; }

/// Buffer size needed on a node with `on_node` of `clients` equal clients.
std::int64_t least_buffer(const Config& config, int clients, int on_node) {
  std::vector<BlockBytes> sizes;
  for (const Variable& variable : config.metadata.variables) {
    if (!config.metadata.is_published(variable)) continue;
    const std::int64_t bytes = divided(bytes_of_mesh(variable, config.metadata), clients);
    BlockBytes& one = sizes.emplace_back();
    one.bytes = static_cast<std::uint64_t>(bytes);
    one.persistent = !variable.time_varying;
  }
  const std::vector<shared_memory::Extents> extents(static_cast<std::size_t>(on_node), extents_of(sizes));
  return static_cast<std::int64_t>(shared_memory::Arena::minimum_bytes(extents));
}

}  // namespace

void check_buffer(const Config& config, int ranks, int nodes) {
  const PlacementConfig& placement = config.opening.placement;
  const int clients = client_count(placement, ranks, nodes);
  const int on_node = most_clients_on_a_node(placement, ranks, nodes);
  if (clients == 0 || on_node > 65534) return;
  std::int64_t all = 0;
  for (const Variable& variable : config.metadata.variables) {
    if (config.metadata.is_published(variable)) all += bytes_of_mesh(variable, config.metadata);
  }
  const std::int64_t least_on_some_node = divided(all, std::min(nodes, clients));
  if (least_on_some_node <= static_cast<std::int64_t>(placement.buffer)) return;
  constexpr std::int64_t unit = 1024;
  const std::int64_t enough =
      divided(std::max(least_on_some_node, least_buffer(config, clients, on_node)), unit) * unit;
  fail_at(placement.where,
          "found a buffer of {} and an iteration of {}, of which {} clients on a node publish {}; expected at least "
          "'buffer: {}' if each has one block of equal size without ghosts (twice as much lets the servers work while "
          "the next iteration is published)",
          format_byte_size(static_cast<std::int64_t>(placement.buffer)), format_byte_size(all), on_node,
          format_byte_size(least_on_some_node), format_byte_size(enough));
}

}  // namespace sidestream
