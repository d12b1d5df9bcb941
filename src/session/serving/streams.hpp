// What a session does for its streams to other jobs.
#pragma once

#include <memory>

#include "base/mpi/communicator.hpp"
#include "client/declarations.hpp"
#include "config/config.hpp"
#include "transport/staging/context.hpp"

namespace sidestream {

/// Builds the configuration of a run from its file, from what the program declared by calls, and from `derived` (see
/// read_config). Every process gets the same. `streams`, if not null, is told what readers of its streams need to build
/// it, too. Throws Error(configuration).
[[nodiscard]] Config complete_config(const Document& document, const Registry& registry,
                                     const Declarations& declarations, staging::StreamContext* streams = nullptr,
                                     const std::vector<std::string>& derived = {});

/// Collective over the servers: a number by which this session is told from others.
void begin_streams(staging::StreamContext& streams, MpiCommunicator& servers);

/// With placement `job`: the tasks of the file run elsewhere, so that a stream takes their place. It carries the
/// variables that those of `group` need, or all if there are none.
void choose_stream_tasks(staging::StreamContext& streams, Config& config, std::size_t group, const Registry& registry,
                         const std::shared_ptr<const OutputDirectory>& directory);

/// Lets streams ask the transport for what writers are not told. It outlives the tasks that ask.
void attach_streams(staging::StreamContext& streams, ServerTransport& transport);

}  // namespace sidestream
