#include "partition/splitting.hpp"

#include <algorithm>
#include <tuple>

namespace sidestream {

namespace {

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> small, large;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    small.push_back(d);
    if (d != number / d) large.push_back(number / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

/// Quality of a splitting, less is better. As reals, because cells of a large mesh times its surface need more than 64
/// bits.
std::tuple<double, double> badness(const std::array<std::int64_t, 3>& parts, const Box& cells) {
  std::array<double, 3> largest{};
  for (int a = 0; a < 3; ++a) {
    const Shares shares(cells.extent(a), parts[a]);
    largest[a] = static_cast<double>(std::max<std::int64_t>(1, shares.end(0)));
  }
  const double volume = largest[0] * largest[1] * largest[2];
  return {volume, volume / largest[0] + volume / largest[1] + volume / largest[2]};
}

}  // namespace

std::array<std::int64_t, 3> parts_of(Shape shape, int axis, std::int64_t servers, const Box& cells) {
  std::array<std::int64_t, 3> best{1, 1, 1};
  best[static_cast<std::size_t>(axis)] = servers;
  if (shape == Shape::slabs) return best;
  std::tuple<double, double> least{};
  bool any = false;
  for (const std::int64_t x : divisors(servers)) {
    for (const std::int64_t y : divisors(servers / x)) {
      const std::array<std::int64_t, 3> parts{x, y, servers / x / y};
      if (shape == Shape::pencils && parts[static_cast<std::size_t>(axis)] != 1) continue;
      const auto candidate = badness(parts, cells);
      if (any && !(candidate < least)) continue;
      any = true;
      least = candidate;
      best = parts;
    }
  }
  return best;
}

Splitting::Splitting(const Box& cells, const std::array<std::int64_t, 3>& parts, const Index3& ratio)
    : cells_(cells),
      ratio_(ratio),
      shares_{Shares(cells.extent(0), parts[0]), Shares(cells.extent(1), parts[1]), Shares(cells.extent(2), parts[2])} {
}

Box Splitting::box(std::int64_t number) const noexcept {
  const std::int64_t x = shares_[0].parts(), y = shares_[1].parts();
  return box(Index3{number % x, number / x % y, number / x / y});
}

Box Splitting::box(const Index3& part) const noexcept {
  Box box;
  for (int a = 0; a < 3; ++a) {
    box.lo[a] = (cells_.lo[a] + shares_[static_cast<std::size_t>(a)].begin(part[a])) * ratio_[a];
    box.hi[a] = (cells_.lo[a] + shares_[static_cast<std::size_t>(a)].end(part[a])) * ratio_[a];
  }
  return box;
}

Index Splitting::part_of(int axis, Index cell) const noexcept {
  // Rounds towards minus infinity.
  const Index coarse = cell / ratio_[axis] - (cell % ratio_[axis] < 0 ? 1 : 0);
  return shares_[static_cast<std::size_t>(axis)].part_of(coarse - cells_.lo[axis]);
}

Plan equal_shares(const PlanInput& input) {
  const Shares shares(static_cast<std::int64_t>(input.blocks.size()), input.servers);
  const bool one = input.server >= 0;
  Plan plan;
  plan.pieces.reserve(one ? static_cast<std::size_t>(shares.end(input.server) - shares.begin(input.server))
                          : input.blocks.size());
  for (std::int64_t server = one ? input.server : 0; server < (one ? input.server + 1 : input.servers); ++server) {
    for (std::int64_t block = shares.begin(server); block < shares.end(server); ++block) {
      plan.pieces.push_back(whole_block(input, block, server));
    }
  }
  return plan;
}

}  // namespace sidestream
