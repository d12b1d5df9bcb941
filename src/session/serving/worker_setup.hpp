// Creation of the same analysis in a separate process, from the configuration of a session.
#pragma once

#include <cstddef>
#include <string>

#include "config/config.hpp"
#include "server/isolation/worker.hpp"
#include "server/isolation/worker_loop.hpp"

namespace sidestream {

/// Everything that a session is made from; see Declarations::encode.
struct WorkerSource {
  std::string text, file, folder;  ///< the configuration, its name, and the base of its relative paths
  Bytes declarations;
  std::vector<std::string> modules;  ///< files of the modules that the session has loaded
};

/// Settings for analysis `number` of `config.tasks`, whose kind is in `registry`. Throws Error(configuration) if a
/// worker cannot make it, because it lacks the program's code or the program `sidestream-worker` is missing.
[[nodiscard]] WorkerSettings worker_settings(const WorkerSource& source, const Config& config, const Registry& registry,
                                             std::size_t task);

/// Makes the task; called in the worker. Throws Error(configuration), as reading a configuration does.
[[nodiscard]] WorkerTask make_worker_task(BytesView setup);

}  // namespace sidestream
