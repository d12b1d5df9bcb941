#include "graphics/compositing.hpp"

#include <vector>

namespace sidestream::rendering {

Stripe stripe_of(std::int64_t height, std::int64_t unit, int rank, int size) {
  const std::int64_t shares = height / unit;
  return {shares * rank / size * unit, shares * (rank + 1) / size * unit};
}

Framebuffer composite(std::span<const Bytes> partials, std::int64_t width, std::int64_t height, std::int64_t unit,
                      Communicator& communicator) {
  const int size = communicator.size();
  const Stripe mine = stripe_of(height, unit, communicator.rank(), size);
  Framebuffer stripe(width, mine.first_row, mine.end_row - mine.first_row);
  if (size == 1) {
    for (const Bytes& partial : partials) merge_runs(partial, stripe);
    return stripe;
  }
  std::vector<Bytes> to(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) {
    const Stripe theirs = stripe_of(height, unit, r, size);
    // Each partial's runs stay in order; several partials simply follow one another.
    for (const Bytes& partial : partials) select_runs(partial, theirs.first_row, theirs.end_row, to[r]);
  }
  for (const Bytes& runs : communicator.all_to_all(to)) merge_runs(runs, stripe);
  return stripe;
}

}  // namespace sidestream::rendering
