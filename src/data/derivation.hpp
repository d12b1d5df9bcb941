// Derived variables: computed from others, point by point and from neighbours.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/expressions/formula.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/kit/data/particle_shares.hpp"

namespace sidestream {

/// A deposit of particles on a grid.
struct Deposit {
  std::int32_t particles = -1;  ///< the particles' mesh
  std::int32_t weight = -1;     ///< a variable of the particles, the amount that each carries; -1: each counts one
  std::int32_t component = 0;   ///< component of the weight
  Assignment method = Assignment::cloud;
  auto operator<=>(const Deposit&) const = default;
};

/// One step of a derivation. It is applied to the results of earlier steps.
struct DerivationStep {
  enum class Kind {
    variable,    ///< as published, as doubles
    derived,     ///< the result of the derivation of `variable`
    coordinate,  ///< coordinate of the point along `index`
    time,        ///< the iteration's time
    cycle,
    iteration,       ///< its index
    component,       ///< component number `index` of the argument
    formula,         ///< `formula` of the arguments; applied to vectors component by component
    vector,          ///< a vector made of numbers, one per component
    magnitude,       ///< the square root of the sum of squares, added in the order of the components
    dot,             ///< the sum of products, likewise
    cross,           ///< cross product of two vectors of three components
    deposit,         ///< the density of `deposit` in the cells in which `variable` lies
    gradient,        ///< gradient of u; component c * dimensions + a is du_c/da
    divergence,      ///< uses the first components, as many as the mesh has dimensions
    curl,            ///< curl of three components; in two dimensions, the normal component of the curl of two
    spin_or_strain,  ///< -(sum of du_a/db du_b/da)/2, the Q criterion: positive where rotation exceeds strain
    cell_mean        ///< the mean over the points of each cell of an unstructured mesh
  };
  Kind kind = Kind::variable;
  std::int32_t components = 1;
  std::vector<std::size_t> arguments{};  ///< positions of earlier steps
  std::int32_t variable = -1;            ///< published, or derived; for a deposit: any variable in the target cells
  std::int32_t index = 0;
  Formula formula{};  ///< applied to the arguments
  Deposit deposit{};
  bool in_cells = false;  ///< for a derivative: computed in the cells of an unstructured mesh, from values at their
                          ///< points

  /// True if it reads neighbours.
  [[nodiscard]] bool is_stencil() const noexcept { return kind >= Kind::gradient; }
};

/// The steps of a derivation; the last step is the result. The configuration makes the same derivation on every
/// process. It refers to other derived variables only by name, so that its number of steps is at most that of its
/// characters: all_steps() inserts each of them once.
class Derivation {
 public:
  /// `text` is the derivation as written, `steps` include a variable, and `metadata` includes the derived variables
  /// among them.
  Derivation(std::string text, std::vector<DerivationStep> steps, const Metadata& metadata);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::vector<DerivationStep>& steps() const noexcept { return steps_; }
  [[nodiscard]] const DerivationStep& result() const noexcept { return steps_.back(); }
  /// The published variables whose values it uses, directly or through derived variables, ascending.
  [[nodiscard]] const std::vector<std::int32_t>& inputs() const noexcept { return inputs_; }
  /// The deposits among its steps, each once.
  [[nodiscard]] const std::vector<Deposit>& deposits() const noexcept { return deposits_; }
  /// The arrays of particles that the deposits read, ascending.
  [[nodiscard]] std::vector<std::int32_t> particles(const Metadata& metadata) const;
  /// True if it uses positions of points, for coordinates and derivatives.
  [[nodiscard]] bool has_places() const noexcept { return places_; }
  /// True if it computes derivatives.
  [[nodiscard]] bool has_stencils() const noexcept { return stencils_; }
  /// True if it computes derivatives in the cells of an unstructured mesh. The result then lies in cells, and inputs
  /// lie in cells or at points. Otherwise inputs and result lie at the same points.
  [[nodiscard]] bool in_cells() const noexcept { return in_cells_; }
  /// The variable whose views have the same form as the views of the result.
  [[nodiscard]] std::int32_t like(const Metadata& metadata) const;
  /// The variable with the coordinates of the points, -1 if it is not needed or there is none.
  [[nodiscard]] std::int32_t coordinates(const Metadata& metadata) const;
  /// All arrays of the mesh that it needs, the coordinates included.
  [[nodiscard]] std::vector<std::int32_t> arrays(const Metadata& metadata) const;
  /// The number of points around its own that a point of the result depends on.
  [[nodiscard]] std::int32_t reach() const noexcept { return reach_; }

 private:
  std::string text_;
  std::vector<DerivationStep> steps_;
  std::vector<std::int32_t> inputs_;
  std::vector<Deposit> deposits_;
  std::int32_t reach_ = 0;
  bool places_ = false;  ///< true if it uses positions of points
  bool stencils_ = false;
  bool in_cells_ = false;
};

/// All steps of a derivation. The steps of all derived variables that it needs are inserted, each of them once. The
/// last step is the result. No step has the kind `derived`.
[[nodiscard]] std::vector<DerivationStep> all_steps(const Derivation& derivation, const Metadata& metadata);

/// The inputs for `selected`: the inputs of derived variables replace them, with a halo that is wide enough. Ranges of
/// derived variables are unknown before they are computed, so parts that depend on them become whole.
[[nodiscard]] std::vector<Selected> inputs_of(const std::vector<Selected>& selected, const Metadata& metadata);

/// True if some of the selected variables are computed from particles on cells. Each particle has to count once.
[[nodiscard]] bool has_deposits(const std::vector<Selected>& selected, const Metadata& metadata);

/// The metadata that clients know, which have no derived variables.
[[nodiscard]] Metadata published_part(const Metadata& metadata);

}  // namespace sidestream
