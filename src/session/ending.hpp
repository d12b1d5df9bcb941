// The signals and the clock that end this process's run, and the time that is left.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/signal_watch.hpp"
#include "config/config.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Watches for the end of the run; one in each process of a session whose configuration has the section `ending`.
class EndingWatch {
 public:
  /// Watches the signals from now on. `job_left`: seconds until the end of the batch job, if that is the limit.
  /// `chained`: see SignalWatch.
  EndingWatch(const EndingConfig& config, std::optional<double> job_left, bool chained = true);

  /// True once a signal has come, the time limit is near, or the servers have said so.
  [[nodiscard]] bool asked() noexcept;
  /// Records that the servers know of an order to end, which another process got.
  void tell() noexcept;
  /// True if the run was told to end and iterations that have not begun are dropped. The checkpoint of the last
  /// iteration has the rest of the time.
  [[nodiscard]] bool is_late() noexcept;
  /// True if the run was told to end and should be over.
  [[nodiscard]] bool is_over() noexcept;
  /// Seconds that closing may wait for the servers to begin the remaining work. `usual`: the limit without an order to
  /// end; `firm`: true if this limit also holds with an order.
  [[nodiscard]] double drain_limit(double usual, bool firm) noexcept;
  /// The reason of the order: "SIGTERM", "the time limit", "an order to another process"; empty: there was none.
  [[nodiscard]] std::string reason() const;

 private:
  enum class By { nobody, a_signal, the_clock, others };
  void order(double end, By by) noexcept;
  [[nodiscard]] double last_begin(double end) const noexcept { return end - margin_ / 2; }

  SignalWatch signals_;
  double margin_;
  std::optional<double> limit_;  ///< now() at the time limit
  std::optional<double> end_;    ///< now() when the run must be over; nothing before the order
  By by_ = By::nobody;
};

/// Watches from now on; null if there is no such section. Collective. If the end of the batch job is the limit, the
/// first process reads it from SLURM_JOB_END_TIME (a UNIX time). Throws Error(configuration) if that is not set.
[[nodiscard]] std::unique_ptr<EndingWatch> watch_for_end(Communicator& world, const EndingConfig& config, bool chained);

}  // namespace sidestream
