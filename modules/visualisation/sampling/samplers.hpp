// Samplers for each kind of mesh, and their common parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/sampling/sampler.hpp"

namespace sidestream::sampling {

/// A block, and the views of the variables on it.
struct SampledBlock {
  Block block;
  std::vector<const BlockView*> views;  ///< by variable of the query; null: not delivered
};

/// Blocks that have at least one of the variables, in ascending order of ids, without copies.
[[nodiscard]] std::vector<SampledBlock> blocks_of(const Query& query, const LocalInput& input);

/// True if a block is on a chosen level; true if a cell of the block counts on that level.
[[nodiscard]] bool is_chosen(const Query& query, const SampledBlock& block);
[[nodiscard]] bool is_chosen(const Query& query, const SampledBlock& block, const Index3& cell);

/// The mesh of the query's variables.
[[nodiscard]] const Mesh& mesh_of(const Query& query, const Metadata& metadata);

/// Values of one component of a variable at points of a block, from the blocks that own the points.
class PointValues {
 public:
  /// `reads`: expected number of points in `wanted` that will be read. `view` null: not delivered.
  PointValues(const BlockView* view, int component, const Box& wanted, std::int64_t reads);
  /// NaN without a value.
  [[nodiscard]] double at(const Index3& p) const;

 private:
  const BlockView* view_;
  int component_;
  Box box_;
  std::vector<double> values_;  ///< all values of the box; empty: points are read one by one
};

/// The sum of weights times values; values with weight 0 are ignored, even NaN.
template <class Value>
[[nodiscard]] double weighed(std::span<const double> weights, bool nearest, Value&& value) {
  if (nearest) {
    std::size_t most = 0;
    for (std::size_t c = 1; c < weights.size(); ++c) most = weights[c] > weights[most] ? c : most;
    return value(most);
  }
  double sum = 0;
  for (std::size_t c = 0; c < weights.size(); ++c) {
    if (weights[c] != 0) sum += weights[c] * value(c);
  }
  return sum;
}

/// Two points along an axis that a place lies between, and its relative distance from the lower one.
struct Between {
  Index lower = 0, upper = 0;
  double t = 0;
};

/// Finds the two cell centres around a place: its own cell's and a neighbour's. Beyond the outermost centres the value
/// is the outermost cell's.
[[nodiscard]] Between between_centres(const LevelAxes& axes, int axis, Index cell, double x);

/// Widens bounds to include places that are outside by a rounding error.
void widen(Place& low, Place& high);

// One sampler for each kind of mesh; see `sample`.
void sample_boxes(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink);
void sample_trees(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink);
/// Curvilinear and unstructured meshes. Returns the number of cells of unknown types whose bounds contain targets.
[[nodiscard]] std::int64_t sample_cells(const Query& query, const SamplePoints& targets, const LocalInput& input,
                                        const Sink& sink);

// Warnings about places without values.

/// Warns once for each of two reasons: places may leave a mesh that moves, which need not be repeated in every
/// iteration.
class UnsampledPoints {
 public:
  /// `file`: receives the places' values.
  explicit UnsampledPoints(std::string file) : file_(std::move(file)) {}

  /// `outside` of `all` places are in no block; `unknown` cells that may contain places were not searched (see
  /// `sample`). Both over all servers; call it on one of them.
  void tell(std::int64_t outside, std::int64_t all, std::int64_t unknown) {
    if (outside > 0 && !warned_outside_) {
      log::warning("'{}': {} of {} places are in no block; their values are NaN", file_, outside, all);
      warned_outside_ = true;
    }
    if (unknown > 0 && !warned_unknown_) {
      log::warning(
          "'{}': {} cells near the places are of types that are not known, and not looked into; places in them count "
          "as outside",
          file_, unknown);
      warned_unknown_ = true;
    }
  }

 private:
  std::string file_;
  bool warned_outside_ = false, warned_unknown_ = false;
};

}  // namespace sidestream::sampling
