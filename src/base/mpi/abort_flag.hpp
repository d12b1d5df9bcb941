// A flag by which members of a communicator tell each other that the work is over, while each goes on with its own.
#pragma once

#include <vector>

#include "base/mpi/communicator.hpp"

namespace sidestream {

/// Each member may raise the flag once; all others see it when they ask. Only `settle` waits.
class AbortFlag {
 public:
  /// Collective over `all`, which outlives it. `members`: by rank, the same everywhere; ranks that are no members have
  /// a flag that does nothing.
  AbortFlag(MpiCommunicator& all, std::vector<int> members);
  ~AbortFlag();
  AbortFlag(const AbortFlag&) = delete;
  AbortFlag& operator=(const AbortFlag&) = delete;

  void raise() { say(true); }
  /// Whether another member has raised it.
  [[nodiscard]] bool is_raised();
  /// Once, by every member, at the end: waits until all the others have got there, so that no word is left behind.
  void settle();

 private:
  void say(bool raises);
  void listen();

  std::unique_ptr<MpiCommunicator> all_;  ///< a communicator of its own
  std::vector<int> others_;               ///< empty if this rank is no member
  std::size_t spoken_ = 0;                ///< how many others have sent their word
  bool said_ = false, raised_ = false;
};

}  // namespace sidestream
