// Counting of signals at barriers.
#pragma once

#include <cstdint>

namespace sidestream {

/// Values of SignalHead::barrier. With `comes` and `counts`, the signal's value is the number of clients on its node.
enum Coming : std::uint32_t {
  no_barrier = 0,
  comes = 1,          ///< reached a barrier; the event takes effect once all clients have
  all_have_come = 2,  ///< reached a barrier of another job
  counts = 3,         ///< raised an event that has taken effect, for tasks that wait for several clients
};

}  // namespace sidestream
