// A flag by which members of a communicator tell each other that the work is over, while each continues with its own.
#pragma once

#include <vector>

#include "base/mpi/communicator.hpp"

namespace sidestream {

/// A flag that each member may raise once; all others see it when they ask. Only `settle` waits.
class AbortFlag {
 public:
  /// Collective over `all`, which outlives it. `members` are ranks, the same everywhere; on ranks that are no members
  /// the flag does nothing.
  AbortFlag(MpiCommunicator& all, std::vector<int> members);
  ~AbortFlag();
  AbortFlag(const AbortFlag&) = delete;
  AbortFlag& operator=(const AbortFlag&) = delete;

  void raise() { say(true); }
  /// True if another member has raised it.
  [[nodiscard]] bool is_raised();
  /// Waits until all other members have got there, so that no word is left behind. Called once, by every member, at the
  /// end.
  void settle();

 private:
  void say(bool raises);
  void listen();

  std::unique_ptr<MpiCommunicator> all_;  ///< a duplicate
  std::vector<int> others_;               ///< empty if this rank is no member
  std::size_t spoken_ = 0;                ///< number of others that have sent their word
  bool said_ = false, raised_ = false;
};

}  // namespace sidestream
