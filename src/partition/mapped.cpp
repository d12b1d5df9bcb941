// Partitioner `mapped`: a map given by the user.
#include <fmt/format.h>

#include "config/options/option_text.hpp"
#include "partition/kinds.hpp"
#include "partition/map_file.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

/// Reads `servers`. Settings know only the position of the list in the file, not that of an entry.
std::vector<std::int64_t> listed_servers(const PlanInput& input, const Settings& settings) {
  std::vector<std::int64_t> servers = settings.integers("servers");
  for (std::size_t b = 0; b < servers.size(); ++b) {
    if (servers[b] < input.servers) continue;
    settings.fail("servers", fmt::format("found the server {} for block {}, expected one of 0 to {}; correct it, or "
                                         "ask for more servers",
                                         servers[b], b, input.servers - 1));
  }
  return servers;
}

[[noreturn]] void no_server(const PlanInput& input, const Settings& settings, const Block& block) {
  const char* option = settings.given("file") ? "file" : "servers";
  settings.fail(option,
                fmt::format("found no server for block {} of the mesh '{}', expected one for each block; add it",
                            block.id, input.metadata.meshes.at(static_cast<std::size_t>(block.mesh)).name));
}

/// Gives each block to the server that `server_of` returns; -1: none was given.
template <class ServerOf>
Plan by(const PlanInput& input, const Settings& settings, ServerOf server_of) {
  Plan plan;
  plan.pieces.reserve(input.server < 0 ? input.blocks.size() : 0);
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    const Block& block = input.blocks[b].block;
    const std::int64_t server = server_of(block);
    if (server < 0) no_server(input, settings, block);
    if (is_wanted(input, server)) plan.pieces.push_back(whole_block(input, static_cast<std::int64_t>(b), server));
  }
  return plan;
}

Plan plan_mapped(const PlanInput& input, const Settings& settings) {
  if (settings.given("servers") == settings.given("file")) {
    settings.fail("servers", settings.given("file")
                                 ? "found 'servers' beside 'file', expected one of them; remove the other"
                                 : "found neither 'servers' nor 'file' for the partitioner 'mapped', expected one of "
                                   "them; say which server gets which block");
  }
  if (settings.given("file")) {
    const ServerMap map = ServerMap::from_file(settings.text("file"), input.metadata, input.servers, settings);
    return by(input, settings, [&](const Block& block) { return map.server_of(block.mesh, block.id); });
  }
  const std::vector<std::int64_t> servers = listed_servers(input, settings);
  const auto count = static_cast<std::int64_t>(servers.size());
  return by(input, settings, [&](const Block& block) {
    return block.id >= 0 && block.id < count ? servers[static_cast<std::size_t>(block.id)] : std::int64_t{-1};
  });
}

}  // namespace

PartitionerKind mapped_partitioner() {
  PartitionerKind kind;
  kind.name = "mapped";
  kind.text = "A map given by the user, block by block, in a list or in a file.";
  kind.options = {{.name = "servers",
                   .type = OptionType::integer,
                   .list = true,
                   .text = "The servers of the blocks with the ids 0, 1, 2, ..., the same for each mesh.",
                   .minimum = 0,
                   .least_entries = 1},
                  {.name = "file",
                   .type = OptionType::text,
                   .text = "Instead of `servers`: a file, the same for all servers, with a line `mesh block server` "
                           "for each block: the mesh's name, the block's id, the server from 0. Lines may begin with "
                           "`- `; those that begin with # are comments.",
                   .range_text = path_range}};
  kind.plan = plan_mapped;
  return kind;
}

}  // namespace sidestream
