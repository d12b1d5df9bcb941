// Doing what must be done although memory is short now.
#pragma once

#include <new>

#include "base/backoff.hpp"

namespace sidestream {

/// Repeats `work`, which leaves everything as it was when it throws, until there is memory for it: others wait for it,
/// and what they have comes free. After 20 s without, std::bad_alloc.
template <class Work>
void retry_while_out_of_memory(Work&& work) {
  constexpr int most_tries = 20'000;
  for (int tries = 1;; ++tries) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      if (tries == most_tries) throw;
      pause_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace sidestream
