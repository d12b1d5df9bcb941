#include <algorithm>

#include "storage/trees/structure.hpp"
#include "targets.hpp"

namespace sidestream::fuzz {

/// Input: dimensions, roots, cells in two bytes, the length of the packed refinement flags, these flags, and packed
/// ownership flags.
void run_tree_flags(BytesView input) {
  constexpr std::size_t head = 5;
  if (input.size() < head) return;
  const auto at = [&](std::size_t n) { return std::to_integer<std::size_t>(input[n]); };
  const TreeShape shape{1 + static_cast<int>(at(0) % 3), 1 + static_cast<Index>(at(1) % 8)};
  std::vector<std::uint8_t> refined(at(2) | at(3) << 8), owned(refined.size());
  const BytesView rest = input.subspan(head);
  const std::size_t length = std::min(at(4), rest.size());
  refused_or_read([&] {
    unpack_refined(shape, rest.first(length), refined);
    unpack_owned(shape, refined, rest.subspan(length), owned);
  });
}

}  // namespace sidestream::fuzz
