// From the configuration of a session to the same analysis in a process of its own.
#pragma once

#include <cstddef>
#include <string>

#include "config/config.hpp"
#include "server/isolation/worker.hpp"
#include "server/isolation/worker_loop.hpp"

namespace sidestream {

/// What a session was made from; see Declarations::encode.
struct WorkerSource {
  std::string text, file, folder;  ///< the configuration, its name, and where its relative paths begin
  Bytes declarations;
};

/// For the analysis of that number in `config.tasks`. Throws Error(configuration) if a worker can not make it, having
/// neither the program's code nor the program `sidestream-worker`.
[[nodiscard]] WorkerSettings worker_settings(const WorkerSource& source, const Config& config, std::size_t task);

/// In the worker. Throws Error(configuration), as reading a configuration does.
[[nodiscard]] WorkerTask make_worker_task(BytesView setup);

}  // namespace sidestream
