// A word that members of a communicator may leave for each other while each goes on with work of its own.
#pragma once

#include <vector>

#include "base/mpi/communicator.hpp"

namespace sidestream {

/// Some members of a communicator, each of which may ring once, for all the others to hear when they ask. Nobody waits
/// but in `settle`.
class AbortFlag {
 public:
  /// Collective over `all`, which outlives it. `members`: by rank, the same everywhere; others of `all` have a bell
  /// that does nothing.
  AbortFlag(MpiCommunicator& all, std::vector<int> members);
  ~AbortFlag();
  AbortFlag(const AbortFlag&) = delete;
  AbortFlag& operator=(const AbortFlag&) = delete;

  void ring() { say(true); }
  /// Whether another has rung.
  [[nodiscard]] bool heard();
  /// Once, by every member, at the end: waits until all the others have got there, so that no word is left behind.
  void settle();

 private:
  void say(bool rings);
  void listen();

  std::unique_ptr<MpiCommunicator> all_;  ///< for nothing else
  std::vector<int> others_;               ///< empty on who is no member
  std::size_t spoken_ = 0;                ///< of the others, for the last time
  bool said_ = false, heard_ = false;
};

}  // namespace sidestream
