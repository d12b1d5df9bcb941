// Properties of a halo, and of a part of one in a box.
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "cosmology/halos/finder/box_runs.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::halos {

/// Greatest value of a set of cells, and its cell. Among equal values the cell with the largest linear index counts.
struct Peak {
  double value = 0;
  Index id = -1;  ///< -1: none yet
  [[nodiscard]] bool below(double other, Index other_id) const noexcept {
    return id < 0 || other > value || (other == value && other_id > id);
  }
  void raise(double other, Index other_id) noexcept {
    if (below(other, other_id)) *this = {other, other_id};
  }
};

/// A halo. Places are differences from the peak's cell in cells, the shortest along periodic axes. Trivially copyable;
/// sent between servers.
struct Halo {
  Peak peak;
  Index cells = 0;
  double mass = 0;                            ///< sum of the values of its cells, rounded once
  std::array<double, 3> weighted{}, plain{};  ///< centroids
  Index3 low{}, high{};                       ///< its first and last cells along each axis
};

/// Sums over the cells of a halo whose peak is known. They are exact, so that the order of cells does not matter.
class HaloSums {
 public:
  HaloSums(const Lattice& lattice, const Peak& peak) : lattice_(lattice), peak_(peak), at_(lattice.cell_of(peak.id)) {}
  void add(const Index3& cell, double value) noexcept;
  /// Adds the cells of a part with one index along an axis. Each cell is added along each axis; masses are added along
  /// the first axis only.
  void add_plane(std::size_t axis, Index place, Index cells, const ExactSum& mass) noexcept;
  [[nodiscard]] Halo finish() const noexcept;

 private:
  void reach(std::size_t axis, Index difference) noexcept;

  const Lattice& lattice_;
  Peak peak_;
  Index3 at_;
  Index cells_ = 0;
  ExactSum mass_;
  std::array<ExactSum, 3> weighted_;
  Index3 plain_{}, low_{}, high_{};
};

/// Sums of a part of a component that may continue beyond its box, for each index along each axis. The shortest way to
/// the peak along periodic axes is unknown until the peak is.
class PartPlanes {
 public:
  void add(const Index3& cell, double value) noexcept;
  /// `low` and `high`: the first and last cells of the part.
  PartPlanes(const Index3& low, const Index3& high);
  void write(ByteWriter& out) const;

 private:
  struct Plane {
    Index cells = 0;
    ExactSum mass;
  };
  Index3 low_;
  std::array<std::vector<Plane>, 3> planes_;
};

/// Merged planes of several parts.
class MergedPlanes {
 public:
  /// Adds the planes written by PartPlanes::write.
  void read(ByteReader& in);
  void add_to(HaloSums& sums) const;

 private:
  struct Plane {
    Index cells = 0;
    ExactSum mass;
  };
  std::array<std::map<Index, Plane>, 3> planes_;
};

}  // namespace sidestream::halos
