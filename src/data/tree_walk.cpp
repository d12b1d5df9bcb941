#include "sidestream/kit/data/tree_walk.hpp"

#include <cstring>

namespace sidestream {
namespace {

/// Packs eight flags (a byte other than 0 is set) to bits; the first flag gives the lowest bit.
std::uint64_t bits_of(std::uint64_t flags) noexcept {
  constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7f;
  const std::uint64_t ones = (((flags & low) + low) | flags) >> 7 & 0x0101010101010101;
  return ones * 0x0102040810204080 >> 56;
}

}  // namespace

TreeIndex::TreeIndex(const Mesh& mesh, const Block& block, const ArrayView& refined)
    : dimensions_(mesh.dimensions),
      extents_(dynamic_cast<const OctreeGeometry&>(*mesh.geometry).roots()),
      roots_(extents_[0] * extents_[1] * extents_[2]),
      cells_(block.cells.hi[0]) {
  const auto count = static_cast<std::size_t>(cells_);
  bits_.assign(count / 64 + 1, 0);
  before_.reserve(bits_.size() + 1);
  const auto* flags = count == 0 ? nullptr : refined.at<std::uint8_t>(0, 0, 0);
  const Index stride = refined.strides[0];
  std::size_t n = 0;
  for (; std::endian::native == std::endian::little && stride == 1 && n + 8 <= count; n += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, flags + n, sizeof eight);
    bits_[n / 64] |= bits_of(eight) << n % 64;
  }
  for (; n < count; ++n) {
    if (flags[static_cast<Index>(n) * stride] != 0) bits_[n / 64] |= std::uint64_t{1} << n % 64;
  }
  Index sum = 0;
  for (const std::uint64_t word : bits_) {
    before_.push_back(sum);
    sum += std::popcount(word);
  }
  starts_.push_back(0);
  Index level = cells_ == 0 ? 0 : roots_;
  while (level > 0 && level <= cells_ - starts_.back()) {
    const Index first = starts_.back(), end = first + level;
    starts_.push_back(end);
    level = (refined_before(end) - refined_before(first)) << dimensions_;
  }
  // level_starts() throws with the reason.
  if (level > 0 || starts_.back() != cells_) starts_ = sidestream::level_starts(mesh, block, refined);
}

Mesh as_levels(const Mesh& tree, std::int32_t levels) {
  const auto& geometry = dynamic_cast<const OctreeGeometry&>(*tree.geometry);
  Mesh mesh = tree;
  mesh.geometry = std::make_shared<UniformGeometry>(geometry.origin(), geometry.spacing());
  mesh.cells = {{0, 0, 0}, geometry.roots()};
  Index3 ratio{1, 1, 1};
  for (std::size_t a = 0; a < static_cast<std::size_t>(tree.dimensions); ++a) ratio[a] = 2;
  mesh.refinement.assign(static_cast<std::size_t>(levels), ratio);
  return mesh;
}

}  // namespace sidestream
