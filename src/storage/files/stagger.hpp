// Slots of time in which servers write one after the other (the "data transfer delays" of Damaris). A disk is slower
// with many concurrent writers than with one, for each writer and in total.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::database {

/// Returns the seconds that server `rank` of `size` waits before it writes. `interval`: seconds between two contexts;
/// `writing`: seconds that the slowest server takes. A slot is a little longer than the writing. All slots together
/// take at most half of the interval, so that servers never fall behind because of them; neighbouring slots may then
/// overlap. 0 while either time is unknown.
[[nodiscard]] inline double slot_begin(int rank, int size, double interval, double writing) noexcept {
  if (size < 2 || !(interval > 0) || !(writing > 0)) return 0;
  constexpr double spare = 1.1, share = 0.5;
  return rank * std::min(spare * writing, share * interval / size);
}

/// One server's state.
class Stagger {
 public:
  /// Waits until this server's slot begins, at most half of the time since the last context. Collective, at the
  /// beginning of each context.
  void wait(Communicator& servers) {
    const double start = now();
    // All servers take the shortest interval and the longest writing time of all, so that they compute the same slots.
    std::array<double, 2> all{began_ > 0 ? began_ - start : 0, writing_};
    servers.maximum(std::span<double>(all));
    began_ = start;
    const double delay = slot_begin(servers.rank(), servers.size(), -all[0], all[1]);
    // The delay counts from here, which all servers reach at nearly the same time.
    if (delay > 0) std::this_thread::sleep_for(std::chrono::duration<double>(delay));
  }
  /// Reports the seconds that this server took to write its values.
  void wrote(double seconds) noexcept { writing_ = seconds; }

 private:
  double began_ = 0, writing_ = 0;  ///< of the last context; 0: there was none
};

}  // namespace sidestream::database
