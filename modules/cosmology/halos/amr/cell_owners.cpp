#include "cosmology/halos/amr/cell_owners.hpp"

#include "cosmology/halos/amr/amr_graph.hpp"

namespace sidestream::halos {
namespace {

constexpr double cells_for_each_server = 512;

}  // namespace

CellOwners::CellOwners(const AmrGraph& graph, int servers) : grid_(graph.geometry()), servers_(servers) {
  const auto cells = [&] {
    double product = 1;
    for (const Index extent : grid_.extents(level_)) product *= static_cast<double>(extent);
    return product;
  };
  if (servers == 1) return;
  while (static_cast<std::size_t>(level_) + 1 < grid_.levels() && cells() < cells_for_each_server * servers) ++level_;
}

AmrCell CellOwners::first_part(const AmrCell& cell) const noexcept {
  if (cell.level >= level_) return grid_.ancestor_of(cell, level_);
  AmrCell part{level_, cell.index};
  for (std::size_t a = 0; a < 3; ++a) part.index[a] *= grid_.extents(level_)[a] / grid_.extents(cell.level)[a];
  return part;
}

std::set<int> CellOwners::keepers_of(const AmrCell& cell) const {
  const AmrCell first = first_part(cell);
  if (cell.level >= level_) return {keeper_of(first)};
  Index3 parts;
  for (std::size_t a = 0; a < 3; ++a) parts[a] = grid_.extents(level_)[a] / grid_.extents(cell.level)[a];
  std::set<int> all;
  AmrCell part = first;
  for (Index i = 0; i < parts[0]; ++i) {
    for (Index j = 0; j < parts[1]; ++j) {
      for (Index k = 0; k < parts[2] && all.size() < static_cast<std::size_t>(servers_); ++k) {
        part.index = {first.index[0] + i, first.index[1] + j, first.index[2] + k};
        all.insert(keeper_of(part));
      }
    }
  }
  return all;
}

}  // namespace sidestream::halos
