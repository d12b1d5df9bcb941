// Retries an operation while allocation fails.
#pragma once

#include <new>

#include "base/backoff.hpp"

namespace sidestream {

/// Repeats `work` until there is memory for it, because other processes wait for it. Meanwhile memory of others may
/// become free. `work` must leave everything unchanged when it throws. Throws std::bad_alloc after 20 s without
/// success.
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
