// What runs in the process of an isolated analysis.
#pragma once

#include <functional>
#include <memory>

#include "sidestream/extend/task.hpp"

namespace sidestream {

/// The analysis, and what it needs to live.
struct WorkerTask {
  std::shared_ptr<const void> keeps;
  const Metadata* metadata = nullptr;
  std::unique_ptr<Task> task;
};

/// Serves the server at the other end of `worker_socket` until that closes or says something that is not understood.
/// `make`: from the setup; may throw. The exit status of the process.
[[nodiscard]] int run_worker(const std::function<WorkerTask(BytesView setup)>& make);

}  // namespace sidestream
