// Stripes of a picture, dealt to the members of a group as cards are: round by round, one to each part in turn.
#include "visualisation/graphics/stripes.hpp"

#include <algorithm>

namespace sidestream::rendering {

Stripes::Stripes(std::int64_t height, std::int64_t unit, int members, int radix)
    : unit_(unit),
      units_(height / unit),
      stripes_(std::min<std::int64_t>(members, units_)),
      members_(members),
      radix_(radix),
      owners_(static_cast<std::size_t>(units_)) {
  deal({0, members}, 0, 1);
}

/// Deals the stripes `stripe`, `stripe + stride`, ...: no more than the group has members.
void Stripes::deal(const Members& group, std::int64_t stripe, std::int64_t stride) {
  if (stripe >= stripes_) return;
  if (group.count == 1) {
    std::fill(owners_.begin() + first_unit(stripe), owners_.begin() + first_unit(stripe + 1), group.first);
    return;
  }
  const std::vector<Members> parts = parts_of(group);
  const auto count = static_cast<std::int64_t>(parts.size());
  for (std::int64_t p = 0; p < count; ++p) {
    deal(parts[static_cast<std::size_t>(p)], stripe + p * stride, stride * count);
  }
}

Stripe Stripes::of(int member) const {
  const auto first = std::find(owners_.begin(), owners_.end(), member);
  const auto end = std::find_if(first, owners_.end(), [&](int owner) { return owner != member; });
  return first == end ? Stripe{} : Stripe{(first - owners_.begin()) * unit_, (end - owners_.begin()) * unit_};
}

std::vector<int> Stripes::members_by_row() const {
  std::vector<int> members = owners_;
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

int Stripes::rounds() const noexcept {
  int rounds = 0;
  for (int largest = members_; largest > 1; ++rounds) {
    const int parts = std::min(radix_, largest);
    largest = (largest + parts - 1) / parts;
  }
  return rounds;
}

std::vector<Members> Stripes::parts_of(const Members& group) const {
  const int count = std::min(radix_, group.count);
  std::vector<Members> parts;
  int first = group.first;
  for (int p = 0; p < count; ++p) {
    parts.push_back({first, group.count / count + (p < group.count % count ? 1 : 0)});
    first += parts.back().count;
  }
  return parts;
}

}  // namespace sidestream::rendering
