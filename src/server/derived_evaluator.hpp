// Computes a derived variable round one block.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/formula.hpp"
#include "data/derivation.hpp"
#include "server/derived_cells.hpp"
#include "server/derived_deposits.hpp"
#include "server/derived_field.hpp"
#include "server/derived_points.hpp"
#include "server/derived_slopes.hpp"
#include "sidestream/data/iteration.hpp"

namespace sidestream {

/// The formulas of a derivation, by step; null where a step is none.
using DerivedFormulas = std::vector<std::unique_ptr<Formula>>;
[[nodiscard]] DerivedFormulas formulas_of(const Derivation& derivation);

/// What is known round one block. Referred to, not copied.
struct DerivedSurroundings {
  const Mesh& mesh;
  const Iteration& iteration;
  std::map<std::int32_t, InputValues>& inputs;  ///< by variable
  const Presence& presence;
  const DerivedPoints& points;
  Box region;                                ///< that inputs cover
  const DepositedParts* deposits = nullptr;  ///< those of the region, if there are any
  const CellWeights* cells = nullptr;        ///< if derivatives are in the cells of an unstructured mesh
};

/// Line by line; only what neighbours are taken of is kept for a whole region.
class DerivedEvaluator {
 public:
  /// References outlive it. `region`: what will be asked for; what neighbours of it take must be in the surroundings,
  /// as far as it exists.
  DerivedEvaluator(const Derivation& derivation, DerivedFormulas& formulas, const DerivedSurroundings& around,
                   const Box& region);
  /// A component of the result.
  void line(int component, const PointLine& line, double* out) { compute(steps_.size() - 1, component, line, out); }

 private:
  void prepare(std::size_t step, const Box& region);
  void compute(std::size_t step, int component, const PointLine& line, double* out);
  void formula(std::size_t step, int component, const PointLine& line, double* out);
  void products(std::size_t step, const PointLine& line, double* out);
  void cross(std::size_t step, int component, const PointLine& line, double* out);
  void stencil(std::size_t step, int component, const PointLine& line, double* out);
  void slope(const DerivedField& field, int component, int axis, const PointLine& line, double* out);
  void differences(std::size_t step, const std::array<int, 4>& parts, const PointLine& line, double* out);
  /// Memory for a line, of its own for each argument of each step.
  std::vector<double>& scratch(std::size_t step, std::size_t n, Index count);

  const std::vector<DerivationStep>& steps_;
  DerivedFormulas& formulas_;
  DerivedSurroundings around_;
  DerivedSlopes slopes_;
  std::vector<DerivedField> fields_;                       ///< by step: what it takes neighbours of
  std::vector<std::vector<std::vector<double>>> scratch_;  ///< by step and number
};

}  // namespace sidestream
