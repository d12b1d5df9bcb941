// Publisher::or_owe, for the files that implement the publisher.
#pragma once

#include "client/publisher.hpp"

namespace sidestream {

/// Runs `work`, which hands an array over. If it throws, an array that does not vary in time is owed from then on.
template <class Work>
[[gnu::hot]] auto Publisher::or_owe(Slot& slot, Work&& work) {
  try {
    return work();
  } catch (...) {
    if (slot.published_in != account_.iterations && !options_.off) {
      slot.waiting.clear();
      owe(slot);
    }
    throw;
  }
}

}  // namespace sidestream
