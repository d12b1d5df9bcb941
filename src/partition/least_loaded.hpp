// Binary heap of servers by load.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace sidestream {

/// Servers by load, the least loaded first; among equal loads the lowest server. `Load`: uint64_t or double.
template <class Load>
class LeastLoaded {
 public:
  explicit LeastLoaded(std::vector<Load> loads) : heap_(loads.size()) {
    for (std::size_t server = 0; server < loads.size(); ++server) {
      heap_[server] = {loads[server], static_cast<std::int32_t>(server)};
    }
    // Builds the heap: afterwards no parent has more load than its children, which `add` preserves.
    for (std::size_t at = heap_.size() / 2; at-- > 0;) sink(at);
  }
  /// Adds `load` to the least loaded server and returns that server.
  std::int32_t add(Load load) {
    const std::int32_t server = heap_.front().second;
    heap_.front().first += load;
    sink(0);
    return server;
  }

 private:
  void sink(std::size_t at) {
    const auto moving = heap_[at];
    for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < moving)) break;
      heap_[at] = heap_[child];
    }
    heap_[at] = moving;
  }
  std::vector<std::pair<Load, std::int32_t>> heap_;
};

}  // namespace sidestream
