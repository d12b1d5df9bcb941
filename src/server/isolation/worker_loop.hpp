// The main loop of the process of an isolated analysis.
#pragma once

#include <functional>
#include <memory>

#include "sidestream/extend/task.hpp"

namespace sidestream {

/// The analysis, with all objects that it needs.
struct WorkerTask {
  std::shared_ptr<const void> keeps;
  const Metadata* metadata = nullptr;
  std::unique_ptr<Task> task;
};

/// Serves the server at the other end of `worker_socket` until it closes the socket or sends an unknown message.
/// `make` makes the task from the setup and may throw. Returns the exit status of the process.
[[nodiscard]] int run_worker(const std::function<WorkerTask(BytesView setup)>& make);

}  // namespace sidestream
