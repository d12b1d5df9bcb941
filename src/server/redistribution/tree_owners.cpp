#include "server/redistribution/tree_owners.hpp"

#include <algorithm>
#include <cmath>

#include "sidestream/extend/exact_sum.hpp"

namespace sidestream {

void count_leaves(std::span<const Index> starts, std::span<const std::uint8_t> flags, std::span<std::int64_t> leaves) {
  for (std::size_t l = 0; l + 1 < starts.size(); ++l) {
    const auto level =
        flags.subspan(static_cast<std::size_t>(starts[l]), static_cast<std::size_t>(starts[l + 1] - starts[l]));
    leaves[std::min(l, leaves.size() - 1)] += std::count(level.begin(), level.end(), 0);
  }
}

double excess_of_leaves(const Mesh& mesh, std::span<const std::int64_t> leaves) {
  const Index3& roots = dynamic_cast<const OctreeGeometry&>(*mesh.geometry).roots();
  const auto volume = static_cast<double>(roots[0] * roots[1] * roots[2]);
  ExactSum beyond;
  beyond.add(-volume);
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    beyond.add_product(static_cast<double>(leaves[l]), std::ldexp(1, -mesh.dimensions * static_cast<int>(l)));
  }
  return std::max(0.0, beyond.value() / volume);
}

}  // namespace sidestream
