// Staggered writing of servers (the "data transfer delays" of Damaris). A disk is slower with many concurrent writers
// than with one, for each writer and in total.
#pragma once

#include "sidestream/extend/communicator.hpp"

namespace sidestream::database {

/// Returns the seconds that server `rank` of `size` waits before it writes. `interval`: seconds between two contexts;
/// `writing`: seconds that the slowest server takes. A slot is a little longer than the writing. All slots together
/// take at most half of the interval, so that servers never fall behind because of them; neighbouring slots then
/// overlap. 0 while either time is unknown.
[[nodiscard]] double slot_begin(int rank, int size, double interval, double writing) noexcept;

/// The part of one server.
class Stagger {
 public:
  /// Collective, at the beginning of each context: waits until this server's slot begins, at most half of the time
  /// since the last context.
  void wait(Communicator& servers);
  /// Reports the seconds that this server took to write its values.
  void wrote(double seconds) noexcept { writing_ = seconds; }

 private:
  double began_ = 0, writing_ = 0;  ///< in the last context; 0: there was none
};

}  // namespace sidestream::database
