// The output `stream`, which hands iterations to another MPI job, and the part of a session that it uses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/registry.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream::staging {

/// Filled when the session starts, before the first iteration; shared by its streams. Empty without streams.
struct StreamContext {
  std::uint64_t session = 0;                             ///< drawn at random, the same on every server
  Bytes declarations;                                    ///< parameters, meshes, variables, for the reader
  std::vector<std::string> events;                       ///< names; place = bit of `signalled`
  std::function<std::uint64_t(std::int64_t)> signalled;  ///< events of an iteration, of this server's clients
  std::vector<Event> raised{};                           ///< events of the iteration at hand, as this server sees them
  std::function<std::vector<Block>(std::int64_t)> blocks;  ///< declared by this server's clients, as of an iteration
  std::function<bool()> given_up;  ///< takes in what clients sent; true if one has stopped waiting for outcomes

  /// These servers read a stream themselves. ADIOS2 that reads one SST stream and writes another in the same process
  /// was seen to send answers to the wrong one of its partners.
  bool reads = false;

  /// Placement `job`: the stream is the only task, and an iteration that no reader acknowledged is refused.
  bool decides = false;
  std::string group;                                   ///< with `decides`: of servers, to which alone it goes
  WhenFull when_full = WhenFull::wait;                 ///< where the stream's own options leave it open
  std::optional<std::vector<std::int32_t>> variables;  ///< with `decides`: which ones go; nothing: all
  std::vector<std::int32_t> with_ghosts{};             ///< with `decides`: of which arrays go as they were published
};

/// Adds the output `stream` to the registry. `context` may be filled later, before the first iteration.
void register_streams(Registry& registry, std::shared_ptr<StreamContext> context);

}  // namespace sidestream::staging
