// How a variable is computed from others, point by point and from neighbours.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/expressions/formula.hpp"
#include "data/particle_shares.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// Particles that are put on a grid.
struct Deposit {
  std::int32_t particles = -1;  ///< their mesh
  std::int32_t weight = -1;     ///< what each carries, a variable of theirs; -1: each counts one
  std::int32_t component = 0;   ///< of the weight
  Assignment method = Assignment::cloud;
  auto operator<=>(const Deposit&) const = default;
};

/// A step: what it makes of the steps before it that are its arguments.
struct DerivationStep {
  enum class Kind {
    variable,    ///< as published, as doubles
    derived,     ///< the result of another derivation, that of `variable`
    coordinate,  ///< of the point, along `index`
    time,        ///< the iteration's
    cycle,
    iteration,      ///< its index
    component,      ///< number `index` of the argument
    formula,        ///< `formula` of the arguments; of vectors component by component
    vector,         ///< of numbers, each of them a component
    magnitude,      ///< the square root of the sum of squares, added in the order of the components
    dot,            ///< the sum of products, likewise
    cross,          ///< of two vectors of three components
    deposit,        ///< the density of `deposit` in the cells in which `variable` lies
    gradient,       ///< of u: component c * dimensions + a is du_c/da
    divergence,     ///< of the first components, as many as the mesh has dimensions
    curl,           ///< of three components; of two in two dimensions the one that points out of them
    spin_or_strain  ///< -(sum of du_a/db du_b/da)/2: positive where a flow turns more than it stretches (Q)
  };
  Kind kind = Kind::variable;
  std::int32_t components = 1;
  std::vector<std::size_t> arguments{};  ///< positions of earlier steps
  std::int32_t variable = -1;  ///< published, or derived; of a deposit: one whose cells they are, whatever it is
  std::int32_t index = 0;
  Formula formula{};  ///< of the arguments
  Deposit deposit{};
  bool in_cells = false;  ///< of a derivative: in the cells of an unstructured mesh, of the values at their points

  /// Whether it looks at neighbours.
  [[nodiscard]] bool is_stencil() const noexcept { return kind >= Kind::gradient; }
};

/// The steps, of which the last is the result. Made by the configuration; the same on every process. Derived variables
/// that it names stay names here, so that a chain of them has as many steps as it has characters: all_steps() puts each
/// of them in once.
class Derivation {
 public:
  /// `text`: as it was written. `steps`: with a variable among them. `metadata`: with the derived ones among these.
  Derivation(std::string text, std::vector<DerivationStep> steps, const Metadata& metadata);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::vector<DerivationStep>& steps() const noexcept { return steps_; }
  [[nodiscard]] const DerivationStep& result() const noexcept { return steps_.back(); }
  /// The published variables that it takes the values of, itself or through derived ones, ascending.
  [[nodiscard]] const std::vector<std::int32_t>& inputs() const noexcept { return inputs_; }
  /// The deposits among its steps, each once.
  [[nodiscard]] const std::vector<Deposit>& deposits() const noexcept { return deposits_; }
  /// The arrays of particles that deposits take, ascending.
  [[nodiscard]] std::vector<std::int32_t> particles(const Metadata& metadata) const;
  /// Whether it takes derivatives.
  [[nodiscard]] bool has_stencils() const noexcept { return stencils_; }
  /// Whether it has derivatives in the cells of an unstructured mesh: then that is where the result lies, and inputs
  /// lie there or at the points. Otherwise all lie at the same points.
  [[nodiscard]] bool in_cells() const noexcept { return in_cells_; }
  /// The variable that the views of the result are like.
  [[nodiscard]] std::int32_t like(const Metadata& metadata) const;
  /// The variable that says where the points are, -1 if it isn't needed or there is none.
  [[nodiscard]] std::int32_t coordinates(const Metadata& metadata) const;
  /// All arrays of the mesh that it needs, those among them.
  [[nodiscard]] std::vector<std::int32_t> arrays(const Metadata& metadata) const;
  /// How many points around its own a point of the result takes.
  [[nodiscard]] std::int32_t reach() const noexcept { return reach_; }

 private:
  std::string text_;
  std::vector<DerivationStep> steps_;
  std::vector<std::int32_t> inputs_;
  std::vector<Deposit> deposits_;
  std::int32_t reach_ = 0;
  bool places_ = false;  ///< it takes those of points
  bool stencils_ = false;
  bool in_cells_ = false;
};

/// The steps of a derivation with those of all derived variables that it needs in place, none of these twice. The last
/// one is the result. There is none of the kind `derived`.
[[nodiscard]] std::vector<DerivationStep> all_steps(const Derivation& derivation, const Metadata& metadata);

/// What must be there for `selected`: derived variables are replaced by what they are computed from, with as much more
/// of a halo as that takes. Nobody knows ranges of derived variables before they are computed: parts that go by them
/// become whole.
[[nodiscard]] std::vector<Selected> inputs_of(const std::vector<Selected>& selected, const Metadata& metadata);

/// Whether some of the selected variables are computed from particles on cells, each of which has to count once.
[[nodiscard]] bool has_deposits(const std::vector<Selected>& selected, const Metadata& metadata);

/// What clients know: without derived variables.
[[nodiscard]] Metadata published_part(const Metadata& metadata);

}  // namespace sidestream
