// Computes a derived variable round one block.
#pragma once

#include <map>
#include <vector>

#include "server/derived/derived_cells.hpp"
#include "server/derived/derived_deposits.hpp"
#include "server/derived/derived_field.hpp"
#include "server/derived/derived_points.hpp"
#include "server/derived/derived_program.hpp"
#include "server/derived/derived_slopes.hpp"
#include "sidestream/data/iteration.hpp"

namespace sidestream {

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
  DerivedEvaluator(DerivedProgram& program, const DerivedSurroundings& around, const Box& region);
  /// A component of the result. Fastest with all components of a line one after the other.
  void line(int component, const PointLine& line, double* out);

 private:
  [[nodiscard]] std::vector<Box> regions(const Box& region) const;
  void keep(const DerivedTarget& target, const Box& region);
  void compute_all(const DerivedTarget& target, const PointLine& line);
  void compute(const DerivedPart& part, const PointLine& line, double* out);
  void formula(const DerivedPart& part, const PointLine& line, double* out);
  void products(const DerivationStep& step, const PointLine& line, double* out) const;
  void cross(const DerivationStep& step, int component, const PointLine& line, double* out) const;
  void stencil(const DerivationStep& step, int component, const PointLine& line, double* out);
  void slope(const DerivedField& field, int component, int axis, const PointLine& line, double* out);
  void differences(const DerivedField& field, const std::array<int, 4>& parts, const PointLine& line, double* out);
  [[nodiscard]] const double* values(std::size_t step, int component) const {
    return values_[step][static_cast<std::size_t>(component)].data();
  }

  DerivedProgram& program_;
  const std::vector<DerivationStep>& steps_;
  DerivedSurroundings around_;
  DerivedSlopes slopes_;
  std::vector<DerivedField> fields_;                      ///< by step: what neighbours are taken of
  std::vector<std::vector<std::vector<double>>> values_;  ///< by step and component, on the line at hand
  std::vector<double> one_, other_;                       ///< slopes on it
  std::vector<const double*> arguments_;
  Formula::Scratch scratch_;
  PointLine line_{};  ///< the one that the result was computed on last
};

}  // namespace sidestream
