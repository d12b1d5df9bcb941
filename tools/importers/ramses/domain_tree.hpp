// The tree of one domain of RAMSES, as a block of an octree mesh has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "importers/ramses/amr_file.hpp"
#include "sidestream/data/box.hpp"

namespace sidestream::ramses {

/// Breadth first over the coarse cells inside the boundary; a level of the tree is the level of RAMSES of that number.
struct DomainTree {
  std::vector<std::uint8_t> refined, owned;  ///< of each cell
  std::vector<Index> first;                  ///< the first cell of each level, and last the number of cells
  /// By level from 1 on: for each oct of the file which of those of the level in the tree it is, `outside` for octs
  /// beyond the boundary. Its cells are first[level] + 2^d * that, x fastest.
  std::vector<std::vector<std::uint32_t>> places;
  AmrHeader header;
  static constexpr std::uint32_t outside = UINT32_MAX;

  [[nodiscard]] Index cells() const noexcept { return static_cast<Index>(refined.size()); }
  [[nodiscard]] int levels() const noexcept { return static_cast<int>(first.size()) - 2; }  ///< of the deepest cell
};

/// The coarse cells that lie inside the boundary, of all domains: those that octs of domains lie in. Reads the
/// beginnings of all files `amr`. Throws Error(file).
[[nodiscard]] Box inner_coarse_cells(const Output& output);

/// The tree of domain `domain`, from 1. A cell is owned if its oct is in the domain's own list, which is how RAMSES'
/// own tools count leaves. Throws Error(file), also where octs have no parent or lie on each other.
[[nodiscard]] DomainTree read_tree(const Output& output, int domain, const Box& coarse);

}  // namespace sidestream::ramses
