// Says so while a task takes longer than it may.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace sidestream {

/// Of one task on one server.
struct Overruns {
  std::int64_t count = 0;
  double longest = 0;           ///< seconds
  std::int64_t iteration = -1;  ///< that took them
};

/// A thread, started with the first task that has a limit, which calls neither MPI nor HDF5 and looks at nothing that
/// the task does. It warns at the limit, and again each time that twice as long has gone by.
class Watchdog {
 public:
  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// A task at work, as long as this lives; one at a time. Without a watchdog or a limit (0) it does nothing. If no
  /// thread can be had, only `overruns` tells.
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
    double start = 0, limit = 0, next = 0;  ///< next: when to warn, in seconds since `start`
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
