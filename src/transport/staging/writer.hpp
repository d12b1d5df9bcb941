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

/// Data of the session for its streams, filled before the first iteration. Empty without streams.
struct StreamContext {
  std::uint64_t session = 0;                             ///< drawn at random, the same on every server
  Bytes declarations;                                    ///< parameters, meshes and variables, for the reader
  std::vector<std::string> events;                       ///< names; the index is the bit in `signalled`
  std::function<std::uint64_t(std::int64_t)> signalled;  ///< events of an iteration from this server's clients
  std::vector<Event> raised{};                           ///< events of the current iteration, as this server sees them
  std::function<std::vector<Block>(std::int64_t)> blocks;  ///< blocks of this server's clients, as of an iteration
  std::function<bool()> given_up;  ///< processes clients' messages; true if a client has stopped waiting for outcomes

  /// True if these servers read a stream themselves. An ADIOS2 process that read one SST stream and wrote another was
  /// seen to send answers to the wrong partner.
  bool reads = false;

  /// Placement `job`: the stream is the only task, and an iteration that no reader acknowledged is refused.
  bool decides = false;
  std::string group;                    ///< with `decides`: the only group of servers that receives the stream
  WhenFull when_full = WhenFull::wait;  ///< used where the stream's own options do not say
  std::optional<std::vector<std::int32_t>> variables;  ///< with `decides`: variables to send; nothing: all
  std::vector<std::int32_t> with_ghosts{};             ///< with `decides`: variables sent with their ghost points
};

/// Adds the output `stream` to the registry. `context` may be filled later, before the first iteration.
void register_streams(Registry& registry, std::shared_ptr<StreamContext> context);

}  // namespace sidestream::staging
