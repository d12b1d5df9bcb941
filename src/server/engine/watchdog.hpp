// Warns while a task takes longer than its limit.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace sidestream {

/// Counts of exceeded limits, for one task on one server.
struct Overruns {
  std::int64_t count = 0;
  double longest = 0;           ///< seconds
  std::int64_t iteration = -1;  ///< the iteration with the longest time
};

/// A thread that starts with the first task that has a limit. It calls neither MPI nor HDF5 and does not read the task.
/// It warns at the limit, and again each time that the elapsed time has doubled.
class Watchdog {
 public:
  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Watches a running task as long as this object lives; one at a time. Without a watchdog or a limit (0) it does
  /// nothing. If no thread can be started, only `overruns` is updated.
  class Watch {
   public:
    Watch(Watchdog* watchdog, const std::string& name, std::int64_t iteration, double limit, Overruns& overruns);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog* watchdog_;
    Overruns& overruns_;
    std::int64_t iteration_;
    double start_ = 0, limit_;
  };

 private:
  struct Watched {
    std::string name;
    std::int64_t iteration = 0;
    double start = 0, limit = 0, next = 0;  ///< next: time of the next warning, in seconds since `start`
  };
  void begin(const std::string& name, std::int64_t iteration, double start, double limit);
  void end() noexcept;
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Watched> watched_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sidestream
