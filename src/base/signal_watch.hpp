// Notes signals; the program's own handlers still run.
#pragma once

#include <optional>
#include <vector>

namespace sidestream {

/// Notes signals from its construction on. Afterwards the dispositions are those from before, unless the program has
/// set others meanwhile, which stay. Watches may overlap in time.
///
/// A process has one handler for a signal. So the handler knows no session: it counts, and calls the previous handler.
/// The default action, or ignoring, becomes: only count.
class SignalWatch {
 public:
  /// `chained` false: the previous handler is not called.
  explicit SignalWatch(std::vector<int> signals, bool chained = true);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  struct Arrival {
    int signal = 0;
    double at = 0;  ///< now() when the first signal of this number arrived
  };
  /// The earliest signal that has arrived.
  [[nodiscard]] std::optional<Arrival> arrived() const noexcept;

 private:
  void leave() noexcept;
  std::vector<int> signals_;
  double since_;
  std::vector<unsigned> counts_;  ///< by signal, of arrivals before this object
};

}  // namespace sidestream
