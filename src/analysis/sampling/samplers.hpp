// How targets are found in blocks of each kind of mesh, and what these have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/sampling/sampler.hpp"
#include "base/log.hpp"
#include "mesh/point_grid.hpp"

namespace sidestream::sampling {

/// A block and what is here of the variables on it.
struct SampledBlock {
  Block block;
  std::vector<const BlockView*> views;  ///< of each variable of the query; null: not delivered
};

/// The blocks of which one of the variables is here, in ascending order of their ids; copies left out.
[[nodiscard]] std::vector<SampledBlock> blocks_of(const Query& query, const LocalInput& input);

/// Of a block on a level: whether it is on a chosen one, and of a cell of it whether that counts there.
[[nodiscard]] bool is_chosen(const Query& query, const SampledBlock& block);
[[nodiscard]] bool is_chosen(const Query& query, const SampledBlock& block, const Index3& cell);

/// The mesh of the query's variables.
[[nodiscard]] const Mesh& mesh_of(const Query& query, const Metadata& metadata);

/// What one component of a variable has at points of a block, from whatever block owns them.
class PointValues {
 public:
  /// Of points in `wanted` some `reads` will be read; null: none was delivered.
  PointValues(const BlockView* view, int component, const Box& wanted, std::int64_t reads);
  /// NaN if there is none.
  [[nodiscard]] double at(const Index3& p) const;

 private:
  const BlockView* view_;
  int component_;
  Box box_;
  std::vector<double> values_;  ///< of all of the box, or none: then they are read one by one
};

/// The sum of weights times values; a weight of 0 makes nothing of a NaN.
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

/// The points that a place lies between on an axis, and how far it is from the lower one to the upper one.
struct Between {
  Index lower = 0, upper = 0;
  double t = 0;
};

/// Between the centres of cells, of the one that the place is in and a neighbour; beyond the outermost centres the
/// value stays that of the outermost.
[[nodiscard]] Between between_centres(const LevelAxes& axes, int axis, Index cell, double x);

/// Bounds that take in places a rounding error outside.
void widen(Place& low, Place& high);

// One for each kind of mesh, see `sample`.
void sample_boxes(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink);
void sample_trees(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink);
void sample_curvilinear(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink);
[[nodiscard]] std::int64_t sample_cells(const Query& query, const SamplePoints& targets, const LocalInput& input,
                                        const Sink& sink);

// What users are told of places that got no value.

/// Warns once of each of two things: places may move out of a mesh that moves, and that need not be said in every
/// iteration.
class UnsampledPoints {
 public:
  /// `file`: that the places' values go to.
  explicit UnsampledPoints(std::string file) : file_(std::move(file)) {}

  /// `outside` of `all` places are in no block; `unknown` cells, in which places may lie, were not looked into (see
  /// `sample`). Of all servers; for one of them to say.
  void tell(std::int64_t outside, std::int64_t all, std::int64_t unknown) {
    if (outside > 0 && !told_outside_) {
      log::warning("'{}': {} of {} places are in no block; their values are NaN", file_, outside, all);
      told_outside_ = true;
    }
    if (unknown > 0 && !told_unknown_) {
      log::warning(
          "'{}': {} cells near the places are of types that are not known, and not looked into; places in them count "
          "as outside",
          file_, unknown);
      told_unknown_ = true;
    }
  }

 private:
  std::string file_;
  bool told_outside_ = false, told_unknown_ = false;
};

}  // namespace sidestream::sampling
