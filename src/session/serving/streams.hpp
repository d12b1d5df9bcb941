// Session support for streams to other jobs.
#pragma once

#include <memory>

#include "base/mpi/communicator.hpp"
#include "client/declarations.hpp"
#include "config/config.hpp"
#include "sidestream/extend/stream.hpp"

namespace sidestream {

/// Builds the configuration of a run from its file, from the program's declarations, and from `further` (see
/// read_config). The result is the same on every process. If `streams` is not null, it gets the data that readers of
/// its streams need to build the same. Throws Error(configuration).
[[nodiscard]] Config complete_config(const Document& document, const Registry& registry,
                                     const Declarations& declarations, StreamContext* streams = nullptr,
                                     const FurtherVariables& further = {});

/// Chooses a number that identifies this session. Collective over the servers.
void begin_streams(StreamContext& streams, MpiCommunicator& servers);

/// Replaces the file's tasks, which run elsewhere in placement `job`, by a stream. It carries the variables that the
/// tasks of `group` need, or all if there are no groups.
void choose_stream_tasks(StreamContext& streams, Config& config, std::size_t group, const Registry& registry,
                         const std::shared_ptr<const OutputDirectory>& directory);

/// Lets streams query the transport for data that writers do not get. The transport must outlive the tasks that ask.
void attach_streams(StreamContext& streams, ServerTransport& transport);

}  // namespace sidestream
