// Sums over the cells of halos and of their parts on a uniform mesh of one level.
//
// The shortest way to the peak along periodic axes is unknown as long as the peak is. So a part that may continue
// elsewhere keeps its sums for each plane of cells along each axis. They are added up exactly over all parts, and
// weighted with distances at the end.
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "cosmology/halos/finder/box_runs.hpp"
#include "cosmology/halos/finder/halo.hpp"
#include "sidestream/data/box.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::halos {

/// Sums over the cells of a part by plane: by axis and place. `Place`: the coordinate that the cells of a plane share:
/// an index, or a level and an index.
template <class Place>
class PlaneSums {
 public:
  void add(std::size_t axis, const Place& place, double value, double volume) {
    CountedSum& plane = planes_[axis][place];
    ++plane.count;
    plane.sum.add_product(value, volume);
  }
  [[nodiscard]] const std::map<Place, CountedSum>& along(std::size_t axis) const noexcept { return planes_[axis]; }

  void write(ByteWriter& out) const {
    std::vector<std::uint32_t> words;
    for (const auto& planes : planes_) {
      out.put(planes.size());
      for (const auto& [place, plane] : planes) {
        out.put(place);
        plane.write(out, words);
      }
    }
  }
  /// Adds the sums written by `write`.
  void read(ByteReader& in) {
    std::vector<std::uint32_t> words;
    for (auto& planes : planes_) {
      const auto count = in.get<std::size_t>();
      for (std::size_t n = 0; n < count; ++n) planes[in.get<Place>()].read(in, words);
    }
  }

 private:
  std::array<std::map<Place, CountedSum>, 3> planes_;
};

class RunGraph;

/// Sums over the cells of a halo whose peak is known. They are exact, so that the order of cells does not matter.
class RunHaloSums {
 public:
  RunHaloSums(const RunGraph& graph, const Peak<Index>& peak);
  void add(const Index3& cell, double value) noexcept;
  /// Adds the cells of a part with one index along an axis. Each cell is added along each axis; masses are added along
  /// the first axis only.
  void add_plane(std::size_t axis, Index place, const CountedSum& plane) noexcept;
  [[nodiscard]] Halo<Index> finish() const noexcept;

 private:
  void reach(std::size_t axis, Index difference) noexcept;

  const Lattice& lattice_;
  Peak<Index> peak_;
  Index3 at_;
  Index cells_ = 0;
  ExactSum mass_;
  std::array<ExactSum, 3> weighted_;
  Index3 plain_{}, low_{}, high_{};
};

/// Sums of a part, for each index along each axis between the first and the last.
class RunPartSums {
 public:
  /// `members`: the runs of the part.
  RunPartSums(const RunGraph& graph, const std::vector<Run>& runs, std::span<const std::uint32_t> members);
  void add(const Index3& cell, double value) noexcept;
  void write(ByteWriter& out) const;

 private:
  Index3 low_{};
  std::array<std::vector<CountedSum>, 3> planes_;
};

/// Merged sums of several parts.
class RunMergedSums : public PlaneSums<Index> {
 public:
  [[nodiscard]] Halo<Index> finish(const RunGraph& graph, const Peak<Index>& peak, Index cells) const;
};

}  // namespace sidestream::halos
