// Signals among the members of a communicator; nobody has to wait for them.
//
// AbortFlag: any member tells the others to stop. Bell: the first member signals the others, which need not wait for
// it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
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
  bool notified_ = false, raised_ = false;
};

/// The first member of a communicator rings when it wants; the others see that while they do other things. Rounds:
/// every member calls `listen`, then `ring`. Between the two no other collective call of the communicator is allowed.
class Bell {
 public:
  /// `members` must outlive the bell.
  explicit Bell(MpiCommunicator& members) : members_(members) {}
  /// Every round must be ended before: MPI owns the word until then.
  ~Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// Begins a round. Waits for nobody.
  void listen();
  /// True if the first member has ended this round. On that member it is never true.
  [[nodiscard]] bool rung();
  /// Ends the round. Collective: waits for the first member, and returns its word on all. Calls `meanwhile` while it
  /// waits.
  [[nodiscard]] bool ring(bool word, const std::function<void()>& meanwhile = {});

 private:
  void send_or_receive();

  MpiCommunicator& members_;
  std::uint64_t word_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace sidestream
