// Properties of a halo in cells of several levels, and of a part of one.
#pragma once

#include <map>
#include <vector>

#include "cosmology/halos/amr/amr_grid.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::halos {

/// Greatest value of a set of cells, and its cell. Among equal values the cell of the greatest rank counts.
struct LevelPeak {
  double value = 0;
  LevelCell cell{-1, {}};  ///< level -1: none yet
  Index3 rank{};           ///< its AmrGrid::rank
  void raise(const LevelPeak& other) noexcept {
    if (cell.level < 0 || other.value > value || (other.value == value && rank < other.rank)) *this = other;
  }
};

/// A halo. Distances are from the middle of the peak's cell, in half steps (see AmrGrid). Trivially copyable; sent
/// between servers.
struct LevelHalo {
  LevelPeak peak;
  Index cells = 0;
  double mass = 0, volume = 0;                ///< sum of values times volumes, and of volumes; rounded once
  std::array<double, 3> weighted{}, plain{};  ///< centroids: weighted by mass, and by volume
  Index3 low{}, high{};                       ///< lower and upper faces
};

/// Sums over a component's cells for each index of each level along each axis. The shortest way to the peak along
/// periodic axes is unknown until the peak is. Sums are exact.
class LevelPlanes {
 public:
  void add(const AmrGrid& levels, const LevelCell& cell, double value);
  void write(ByteWriter& out) const;
  /// Adds the sums written by `write`.
  void read(ByteReader& in);
  [[nodiscard]] LevelHalo finish(const AmrGrid& levels, const LevelPeak& peak, Index cells) const;

 private:
  struct Plane {
    Index cells = 0;
    ExactSum mass;  ///< values times volumes
  };
  using Place = std::pair<std::int32_t, Index>;  ///< level and index
  std::array<std::map<Place, Plane>, 3> planes_;
};

// The table of halos in cells of several levels.

/// A row for each of this server's halos; `first`: number of the first of them.
[[nodiscard]] std::vector<Column> level_columns(const std::vector<LevelHalo>& halos, const AmrGrid& levels,
                                                std::int64_t first);

}  // namespace sidestream::halos
