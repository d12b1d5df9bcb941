#include "storage/files/stagger.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/waiting.hpp"

namespace sidestream::database {

double slot_begin(int rank, int size, double interval, double writing) noexcept {
  if (size < 2 || !(interval > 0) || !(writing > 0)) return 0;
  constexpr double spare = 1.1, share = 0.5;
  return rank * std::min(spare * writing, share * interval / size);
}

void Stagger::wait(Communicator& servers) {
  const double start = now();
  // All servers take the shortest interval and the longest writing time of all, so that they compute the same slots.
  std::array<double, 2> all{began_ > 0 ? began_ - start : 0, writing_};
  servers.maximum(std::span<double>(all));
  began_ = start;
  const double delay = slot_begin(servers.rank(), servers.size(), -all[0], all[1]);
  // The delay counts from this place, which all servers reach at nearly the same time.
  if (delay > 0) std::this_thread::sleep_for(std::chrono::duration<double>(delay));
}

}  // namespace sidestream::database
