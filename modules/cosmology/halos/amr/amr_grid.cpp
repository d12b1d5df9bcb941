// Cells of refined meshes as level and index: parents, neighbours, periodic differences, positions and ids.
//
// Positions are counted in half steps of the finest lattice, so that comparisons are exact; volumes of trees are powers
// of two. The id of a cell is its last point on the finest lattice, which orders cells of all levels in one way.
// CellIndex is a hash table with linear probing. find_round looks for the cell itself, then for the ancestors that
// contain it.
#include "cosmology/halos/amr/amr_grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/hash.hpp"

namespace sidestream::halos {

std::uint64_t AmrCell::hash() const noexcept {
  std::uint64_t bits = static_cast<std::uint64_t>(level) + 1;
  for (const Index i : index) bits = mixed_bits(bits ^ static_cast<std::uint64_t>(i));
  return bits;
}

AmrGrid::AmrGrid(const Mesh& mesh, int connectivity) : mesh_(mesh), lattice_(mesh) {
  const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get());
  const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get());
  const std::array<double, 3> spacing = tree != nullptr ? tree->spacing() : uniform->spacing();
  origin_ = tree != nullptr ? tree->origin() : uniform->origin();
  for (std::size_t level = 0; level < lattice_.levels(); ++level) {
    const Index3& steps = lattice_.steps(static_cast<std::int32_t>(level));
    Index3 &extents = extents_.emplace_back(), &first = first_.emplace_back(),
           &ratio = ratios_.emplace_back(Index3{1, 1, 1});
    double volume = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      extents[a] = lattice_.domain().extent(static_cast<int>(a)) / steps[a];
      first[a] = lattice_.domain().lo[a] / steps[a];
      if (level > 0) ratio[a] = extents[a] / extents_[level - 1][a];
      volume *= static_cast<double>(steps[a]);
    }
    volumes_.push_back(volume);
  }
  // Steps of trees are powers of two, so that nothing is rounded; volumes of the finest cells may be too small for
  // doubles.
  const double root = volumes_[0];
  if (tree != nullptr) {
    for (double& volume : volumes_) volume /= root;
  } else {
    unit_volume_ = 1 / root;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    half_step_[a] = spacing[a] / static_cast<double>(2 * lattice_.steps(0)[a]);
    origin_[a] += spacing[a] * static_cast<double>(first_[0][a]);
    if (a < static_cast<std::size_t>(mesh.dimensions)) unit_volume_ *= std::fabs(spacing[a]);
  }
  for (Index n = 0; n < 27; ++n) {
    const Index3 d{n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
    bool used = are_neighbours(connectivity, d);
    for (std::size_t a = static_cast<std::size_t>(mesh.dimensions); a < 3; ++a) used = used && d[a] == 0;
    if (used) offsets_.push_back(d);
  }
}

AmrCell AmrGrid::cell_of(std::int32_t level, const Index3& index) const {
  static_cast<void>(lattice_.steps(level));
  AmrCell cell{level, index};
  for (std::size_t a = 0; a < 3; ++a) cell.index[a] -= first_[static_cast<std::size_t>(level)][a];
  return cell;
}

TreeCell AmrGrid::in_mesh(const AmrCell& cell) const {
  TreeCell to{cell.level, cell.index};
  for (std::size_t a = 0; a < 3; ++a) to.index[a] += first_[static_cast<std::size_t>(cell.level)][a];
  return to;
}

AmrCell AmrGrid::parent_of(const AmrCell& cell) const noexcept {
  AmrCell parent{cell.level - 1, cell.index};
  const Index3& ratio = ratios_[static_cast<std::size_t>(cell.level)];
  for (std::size_t a = 0; a < 3; ++a) parent.index[a] /= ratio[a];
  return parent;
}

std::optional<AmrCell> AmrGrid::beside(const AmrCell& cell, const Index3& step) const noexcept {
  AmrCell other = cell;
  const Index3& extents = extents_[static_cast<std::size_t>(cell.level)];
  for (std::size_t a = 0; a < 3; ++a) {
    Index& place = other.index[a];
    place += step[a];
    if (place >= 0 && place < extents[a]) continue;
    if (!mesh_.periodic[a]) return std::nullopt;
    place = (place + extents[a]) % extents[a];
  }
  return other;
}

double AmrGrid::whole_volume() const noexcept {
  double cells = 1;
  for (const Index extent : extents_[0]) cells *= static_cast<double>(extent);
  return cells * volumes_[0] * unit_volume_;
}

Index AmrGrid::difference(std::size_t axis, Index from, Index to) const noexcept {
  const Index away = to - from;
  if (!mesh_.periodic[axis]) return away;
  const Index n = length_of_mesh(axis), half = n / 2;
  return away < -half ? away + n : away >= half ? away - n : away;
}

double AmrGrid::wrapped(std::size_t axis, double half_steps) const noexcept {
  if (!mesh_.periodic[axis]) return half_steps;
  const auto n = static_cast<double>(length_of_mesh(axis));
  if (half_steps < -n / 2) half_steps += n;
  if (half_steps >= n / 2) half_steps -= n;
  return half_steps;
}

std::optional<AmrCell> AmrGrid::cell_at(std::int32_t level, const std::array<double, 3>& x) const noexcept {
  AmrCell cell{level, {}};
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions()); ++a) {
    const auto roots = static_cast<double>(extents_[0][a]);
    double u = (x[a] - origin_[a]) / (half_step_[a] * static_cast<double>(length(0, a)));
    if (!std::isfinite(u)) return std::nullopt;
    if (mesh_.periodic[a]) u -= roots * std::floor(u / roots);
    if (mesh_.periodic[a] && !(u < roots)) u = 0;
    if (!(u >= 0 && u <= roots)) return std::nullopt;
    const Index3& extents = extents_[static_cast<std::size_t>(level)];
    const auto ratio = static_cast<double>(extents[a] / extents_[0][a]);
    cell.index[a] = std::min(static_cast<Index>(u * ratio), extents[a] - 1);
  }
  return cell;
}

double AmrGrid::position(std::size_t axis, const AmrCell& cell, double half_steps, bool brought_back) const {
  double place = static_cast<double>(middle(cell.level, axis, cell.index[axis])) + half_steps;
  if (brought_back && mesh_.periodic[axis]) {
    const auto n = static_cast<double>(length_of_mesh(axis));
    if (place < 0) place += n;
    if (place >= n) place -= n;
  }
  return origin_[axis] + half_step_[axis] * place;
}

AmrId AmrGrid::id_of(const AmrCell& cell) const {
  AmrId id{cell.index, cell.level};
  for (std::size_t a = 0; a < 3; ++a) id.last[a] = (id.last[a] + 1) * lattice_.steps(cell.level)[a] - 1;
  return id;
}

AmrCell AmrGrid::cell_of(const AmrId& id) const {
  AmrCell cell{id.level, id.last};
  for (std::size_t a = 0; a < 3; ++a) cell.index[a] /= lattice_.steps(id.level)[a];
  return cell;
}

CellIndex::CellIndex(const std::vector<AmrCell>& cells) : cells_(cells), slots_(std::bit_ceil(2 * cells.size() + 2)) {
  for (std::size_t n = 0; n < cells.size(); ++n) {
    const auto level = static_cast<std::size_t>(cells[n].level);
    if (level >= levels_.size()) levels_.resize(level + 1);
    levels_[level] = true;
    std::size_t at = cells[n].hash() & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::uint32_t>(n + 1);
  }
}

std::int64_t CellIndex::find(const AmrCell& cell) const noexcept {
  const auto level = static_cast<std::size_t>(cell.level);
  if (level >= levels_.size() || !levels_[level]) return -1;
  for (std::size_t at = cell.hash() & (slots_.size() - 1); slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (cells_[slots_[at] - 1] == cell) return slots_[at] - 1;
  }
  return -1;
}

std::int64_t CellIndex::find_round(AmrCell cell, const AmrGrid& grid) const noexcept {
  for (;; cell = grid.parent_of(cell)) {
    const std::int64_t found = find(cell);
    if (found >= 0 || cell.level == 0) return found;
  }
}

}  // namespace sidestream::halos
