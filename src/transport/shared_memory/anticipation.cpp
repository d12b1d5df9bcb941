#include "transport/shared_memory/anticipation.hpp"

#include <algorithm>

namespace sidestream::shared_memory {

void Anticipation::came(Time time) noexcept {
  if (count_ > 0) intervals_[(count_ - 1) % looked_at] = time - last_;
  last_ = time;
  ++count_;
}

std::optional<std::pair<Anticipation::Time, Anticipation::Time>> Anticipation::next() const noexcept {
  if (count_ <= looked_at || most_ <= Duration::zero()) return std::nullopt;
  auto sorted = intervals_;
  std::sort(sorted.begin(), sorted.end());
  const Duration middle = sorted[looked_at / 2];
  constexpr int part = 20;
  const Duration window = std::min(most_, middle / part);
  // One slow step (a checkpoint, say) does not make the others unpredictable.
  if (sorted[looked_at - 2] - sorted.front() > 2 * window) return std::nullopt;
  return std::pair(last_ + middle - window, last_ + middle + window);
}

}  // namespace sidestream::shared_memory
