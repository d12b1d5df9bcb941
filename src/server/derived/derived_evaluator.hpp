// Derived variables: the steps of an expression, and their evaluation in a region around one block.
#pragma once

#include <map>
#include <vector>

#include "data/derivation.hpp"
#include "server/derived/derived_deposits.hpp"
#include "server/derived/derived_field.hpp"
#include "server/derived/derived_slopes.hpp"
#include "sidestream/data/iteration.hpp"

namespace sidestream {

/// One component of a step.
struct DerivedPart {
  std::size_t step = 0;
  int component = 0;
};

/// A step whose values are kept in a whole region, with all components, because its neighbours are needed or it is the
/// result. `order` lists the steps to compute first on a line, each once.
struct DerivedTarget {
  std::size_t step = 0;
  std::vector<DerivedPart> order{};
};

/// The steps of an expression. A step that several others use is computed once, so a chain of n derived variables costs
/// n times one variable.
struct DerivedProgram {
  DerivedProgram(const Derivation& derivation, const Metadata& metadata);

  std::vector<DerivationStep> steps;
  std::vector<DerivedTarget> targets{};  ///< ascending by step; the last one is the result
};

/// The region around one block, with the inputs of an evaluation. Holds references.
struct DerivedSurroundings {
  const Mesh& mesh;
  const Iteration& iteration;
  std::map<std::int32_t, InputValues>& inputs;  ///< inputs by variable
  const Presence& presence;
  const DerivedPoints& points;
  Box region;                                ///< region that the inputs cover
  const DepositedParts* deposits = nullptr;  ///< deposits in the region; null: none
  const CellWeights* cells = nullptr;  ///< if derivatives are computed in the cells of an unstructured mesh, else null
};

/// Computes line by line; whole regions are kept only for steps whose neighbours are needed.
class DerivedEvaluator {
 public:
  /// Keeps references. `region`: the region of all later requests. The surroundings must contain the neighbours that
  /// stencils need around it, as far as they exist.
  DerivedEvaluator(DerivedProgram& program, const DerivedSurroundings& around, const Box& region);
  /// Computes one component of the result. Fastest if all components of a line are requested in turn.
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
  std::vector<DerivedField> fields_;                      ///< by step: fields whose neighbours are needed
  std::vector<std::vector<std::vector<double>>> values_;  ///< by step and component, on the current line
  std::vector<double> one_, other_;                       ///< derivatives on the current line
  std::vector<const double*> arguments_;
  Formula::Scratch scratch_;
  PointLine line_{};  ///< the last computed line
};

}  // namespace sidestream
