// A word of one member for which the others need not wait.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

#include "base/mpi/communicator.hpp"

namespace sidestream {

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
