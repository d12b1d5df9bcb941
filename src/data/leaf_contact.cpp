#include "data/leaf_contact.hpp"

#include <algorithm>

#include "data/covered_cells.hpp"

namespace sidestream {

bool boxes_touch(const Mesh& mesh, const Box& a, std::int32_t level_a, const Box& b, std::int32_t level_b) {
  const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
  if (level_a > finest || level_b > finest) return false;
  const Index3 all = mesh.ratio_to(finest), of_a = mesh.ratio_to(level_a), of_b = mesh.ratio_to(level_b);
  for (std::size_t d = 0; d < 3; ++d) {
    const Index wide = all[d] / of_a[d], other = all[d] / of_b[d];
    if (a.lo[d] * wide > b.hi[d] * other || b.lo[d] * other > a.hi[d] * wide) return false;
  }
  return true;
}

bool LeafContact::between(std::size_t a, std::size_t b) {
  const Block &one = blocks_[a], &other = blocks_[b];
  if (!boxes_touch(mesh_, one.cells, one.level, other.cells, other.level)) return false;
  const std::vector<Box>& mine = leaves(a);
  const std::vector<Box>& theirs = leaves(b);
  return std::any_of(mine.begin(), mine.end(), [&](const Box& box) {
    if (!boxes_touch(mesh_, box, one.level, other.cells, other.level)) return false;
    return std::any_of(theirs.begin(), theirs.end(),
                       [&](const Box& leaf) { return boxes_touch(mesh_, box, one.level, leaf, other.level); });
  });
}

const std::vector<Box>& LeafContact::leaves(std::size_t position) {
  std::optional<std::vector<Box>>& known = leaves_[position];
  if (known) return *known;
  known.emplace(1, blocks_[position].cells);
  for (const Box& covered : covered_cells(mesh_, blocks_[position], blocks_, index_)) {
    *known = difference(*known, covered);
  }
  return *known;
}

}  // namespace sidestream
