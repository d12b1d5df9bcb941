// Servers that write one after the other instead of all at once (the "data transfer delays" of Damaris): a disk that
// many write to at a time gives each of them little, and all together less than one alone.
#pragma once

#include "sidestream/extend/communicator.hpp"

namespace sidestream::database {

/// Seconds that server `rank` of `size` waits before it writes. `interval`: between two contexts; `writing`: what the
/// slowest server takes. Slots are as long as a server takes and a little more, but all of them together at most half
/// of the interval, so that servers never fall behind because of them: then neighbours overlap. 0 while either is
/// unknown.
[[nodiscard]] double slot_begin(int rank, int size, double interval, double writing) noexcept;

/// One server's end.
class Stagger {
 public:
  /// Collective, at the beginning of each context: waits until this server's slot begins. No longer than half of the
  /// time since the context before.
  void wait(Communicator& servers);
  /// What this server took to write its values.
  void wrote(double seconds) noexcept { writing_ = seconds; }

 private:
  double began_ = 0, writing_ = 0;  ///< of the last context; 0: there was none
};

}  // namespace sidestream::database
