// Translation of a derived variable's text to steps of a Derivation.
//
// 1. parse, then check_functions: names of functions are checked before arguments, so that the first mistake is
//    reported.
// 2. operand_of, for each node of the tree in order: numbers, names and calls. Arithmetic is collected in one Formula
//    as long as possible; functions of vectors and of neighbours are steps of their own.
// 3. DerivationPoints checks that all variables lie on one mesh at the same points, and places the steps.
// Every Error(configuration) names the position in the text.
#include "config/expressions/derivation_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "config/expressions/derivation_points.hpp"
#include "config/expressions/derived_section.hpp"
#include "sidestream/kit/base/float_environment.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

using Kind = DerivationStep::Kind;
using NodeKind = SyntaxNode::Kind;

constexpr std::size_t nothing = std::string::npos;
constexpr std::array<std::string_view, 3> axis_names{"x", "y", "z"};
constexpr std::array<std::string_view, 3> deposit_names{"ngp", "cic", "tsc"};  // by Assignment

/// The meaning of a node: a step, or arithmetic that becomes a step together with the arithmetic around it.
struct Operand {
  std::size_t step = nothing;
  Formula formula{};
  std::vector<std::size_t> arguments{};  ///< steps that are the arguments of the formula
};

Operand constant(double value) { return {.formula = Formula::of_constant(value)}; }
Operand of_step(std::size_t step) { return {.step = step}; }

/// The operand as a formula.
Operand as_formula(Operand operand) {
  if (operand.step == nothing) return operand;
  return {.formula = Formula::of_argument(0), .arguments = {operand.step}};
}

/// Appends the formula of `right` to the formula of `left`.
void append(Operand& left, Operand right) {
  right = as_formula(std::move(right));
  std::vector<std::size_t> numbers;
  for (const std::size_t argument : right.arguments) {
    const auto found = std::find(left.arguments.begin(), left.arguments.end(), argument);
    numbers.push_back(static_cast<std::size_t>(found - left.arguments.begin()));
    if (found == left.arguments.end()) left.arguments.push_back(argument);
  }
  left.formula.append(right.formula, numbers);
}

/// Reports a syntax error. Throws Error(configuration).
[[noreturn]] void report(const SyntaxError& error, const ExpressionText& text, const SyntaxRules& rules) {
  using Fault = SyntaxError::Kind;
  const std::size_t at = error.position();
  const std::string_view rest = std::string_view(text.text).substr(std::min(at, text.text.size()));
  switch (error.kind()) {
    case Fault::unreadable:
      if (rest.starts_with("**")) text.wrong(at, "where '**' cannot be read; write '^' for powers");
      if (rest.starts_with("=")) text.wrong(at, "where '=' cannot be read; write '==' to compare");
      text.wrong(at, text.unreadable(at) + "; expected an expression such as '0.5 * rho * magnitude(velocity)^2'");
    case Fault::ends:
      text.wrong(at, "which ends too early; complete it");
    case Fault::unclosed:
      text.wrong(at, "in which this parenthesis is not closed; add a ')'");
    case Fault::unclosed_quote:
      text.wrong(at, "in which this quote is not closed; close it");
    case Fault::index:
      text.wrong(at, "in which '[' is not followed by a whole number and ']'; write one, from 0");
    case Fault::too_deep:
      text.wrong(at, fmt::format("which is nested more than {} deep; simplify it", rules.deepest));
    default:
      text.wrong(at, fmt::format("{}; correct it", error.what()));
  }
}

/// Translates the tree of a derived variable to steps.
class DerivationBuilder {
 public:
  DerivationBuilder(const ExpressionText& text, const ExpressionContext& context, const Metadata& metadata,
                    const Variable* on)
      : text_(text), context_(context), metadata_(metadata), points_(text, metadata, on) {}

  std::vector<DerivationStep> run() {
    parse();
    check_functions();
    for (const SyntaxNode& node : tree_) operands_.push_back(operand_of(node));
    const std::size_t result = step_of(tree_.size() - 1);
    points_.place(steps_);
    steps_.resize(result + 1);
    return std::move(steps_);
  }

 private:
  void parse() {
    constexpr std::size_t longest = 4096;
    if (text_.text.size() > longest) {
      fail_at(text_.where, "found a text longer than {} characters for {}; divide it among several variables", longest,
              text_.what);
    }
    SyntaxRules rules{.negation = metadata_.find_variable("not") == nullptr};
    rules.of_names.assign(deposit_names.begin(), deposit_names.end());
    try {
      tree_ = parse_expression(text_.text, rules);
    } catch (const SyntaxError& error) {
      report(error, text_, rules);
    }
  }

  /// Checks the names of all functions before their arguments, so that a mistake in a name is reported first.
  void check_functions() const {
    for (const SyntaxNode& node : tree_) {
      if (node.kind == NodeKind::call && is_deposit(node)) check_subject(node);
      if (node.kind == NodeKind::call && !is_deposit(node) && own_function(node) == nullptr &&
          find_number_function(node.text) == nullptr) {
        unknown(node);
      }
    }
  }

  /// Checks that the argument of a deposit is one name, perhaps with a component.
  void check_subject(const SyntaxNode& node) const {
    if (node.children.empty() || (node.children.size() == 1 && tree_[node.children[0]].subject)) return;
    const std::size_t at = node.children.size() > 1 ? tree_[node.children[1]].begin : tree_[node.children[0]].at;
    text_.wrong(at, fmt::format("where '{}' goes on; {}", node.text, expected_of(node)));
  }

  static std::string expected_of(const SyntaxNode& deposit) {
    return fmt::format("expected a variable of particles as it is published, or a mesh of them, as in '{}(mass)'",
                       deposit.text);
  }

  static bool is_deposit(const SyntaxNode& node) {
    return std::find(deposit_names.begin(), deposit_names.end(), node.text) != deposit_names.end();
  }
  static const DerivedFunction* own_function(const SyntaxNode& node) {
    const std::vector<DerivedFunction>& all = derived_functions();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const DerivedFunction& one) { return one.name == node.text; });
    return found == all.end() ? nullptr : &*found;
  }

  std::size_t add(DerivationStep step) {
    steps_.push_back(std::move(step));
    return steps_.size() - 1;
  }

  Operand operand_of(const SyntaxNode& node) {
    if (node.subject) return {};  // belongs to the deposit
    switch (node.kind) {
      case NodeKind::number:
        return number(node);
      case NodeKind::parameter:
        return constant(as_real(value_of_parameter(node.text, context_, text_.what, text_.place(node.begin))));
      case NodeKind::name:
        return name(node);
      case NodeKind::component:
        return component(node);
      case NodeKind::call:
        if (is_deposit(node)) return of_step(deposit(node));
        if (const DerivedFunction* const function = own_function(node)) return of_step(apply(*function, node));
        return arithmetic(node);
      default:
        return arithmetic(node);
    }
  }

  Operand number(const SyntaxNode& node) const {
    const std::optional<double> value = real_number(node.text);
    if (!value) text_.wrong(node.begin, "in which this number does not fit in 64 bits; write another");
    return constant(*value);
  }

  Operand name(const SyntaxNode& node) {
    if (const Variable* const variable = metadata_.find_variable(std::string(node.text))) {
      points_.add_variable(*variable, node.begin);
      return of_step(add({.kind = variable->derived() ? Kind::derived : Kind::variable,
                          .components = variable->components,
                          .variable = variable->id}));
    }
    if (node.quoted) unknown(node);
    if (node.text == "pi") return constant(3.14159265358979323846);
    if (node.text == "time") return of_step(add({.kind = Kind::time}));
    if (node.text == "cycle") return of_step(add({.kind = Kind::cycle}));
    if (node.text == "iteration") return of_step(add({.kind = Kind::iteration}));
    const auto axis = std::find(axis_names.begin(), axis_names.end(), node.text);
    if (axis == axis_names.end()) unknown(node);
    const auto number = static_cast<std::int32_t>(axis - axis_names.begin());
    points_.add_coordinate(number, node.begin);
    return of_step(add({.kind = Kind::coordinate, .index = number}));
  }

  Operand component(const SyntaxNode& node) {
    const std::size_t of = step_of(node.children[0]);
    check_component(node, steps_[of].components);
    return of_step(add({.kind = Kind::component, .arguments = {of}, .index = node.index}));
  }

  void check_component(const SyntaxNode& node, std::int32_t count) const {
    if (node.index < count) return;
    text_.wrong(node.at, fmt::format("in which component {} is asked for of something that has {}; expected one from "
                                     "0 to {}",
                                     node.index, count, count - 1));
  }

  /// Builds the formula of an operator, a conditional or a function of numbers.
  Operand arithmetic(const SyntaxNode& node) {
    if (node.kind == NodeKind::call) check_arguments(node);  // there is one at least
    Operand made = as_formula(std::move(operands_[node.children[0]]));
    for (std::size_t n = 1; n < node.children.size(); ++n) append(made, std::move(operands_[node.children[n]]));
    if (node.kind == NodeKind::unary) made.formula.apply_unary(node.sign);
    if (node.kind == NodeKind::binary) made.formula.apply_binary(node.sign);
    if (node.kind == NodeKind::conditional) made.formula.choose();
    if (node.kind == NodeKind::call) made.formula.apply(*find_number_function(node.text), node.children.size());
    return made;
  }

  void check_arguments(const SyntaxNode& node) const {
    const std::size_t expected = find_number_function(node.text)->arguments();
    const bool few = node.children.size() < std::max<std::size_t>(expected, 1);
    if (!few && (expected == 0 || node.children.size() == expected)) return;
    text_.wrong(node.begin, fmt::format("in which a function has too {} arguments; correct it", few ? "few" : "many"));
  }

  /// The step of a node. Arithmetic becomes one step, which is applied to vectors component by component.
  std::size_t step_of(std::size_t node) {
    Operand operand = std::move(operands_[node]);
    if (operand.step != nothing) return operand.step;
    DerivationStep step{.kind = Kind::formula};
    step.formula = std::move(operand.formula);
    step.arguments = std::move(operand.arguments);
    for (const std::size_t argument : step.arguments) join(step, argument, tree_[node].begin);
    return add(std::move(step));
  }

  /// Sets the components of a step by an argument. Numbers combine with vectors, and vectors with others of the same
  /// length.
  void join(DerivationStep& step, std::size_t argument, std::size_t at) const {
    const std::int32_t count = steps_[argument].components;
    if (count == 1 || step.components == count) return;
    if (step.components != 1) {
      text_.wrong(at, fmt::format("which joins vectors of {} and {} components, expected as many; take components, as "
                                  "in 'velocity.x', or magnitudes",
                                  step.components, count));
    }
    step.components = count;
  }

  std::size_t apply(const DerivedFunction& function, const SyntaxNode& node) {
    DerivationStep step{.kind = function.kind};
    std::vector<std::int32_t> given;
    for (const std::size_t child : node.children) {
      step.arguments.push_back(step_of(child));
      given.push_back(steps_[step.arguments.back()].components);
    }
    const bool enough = function.arguments == 0 ? given.size() >= 2 : given.size() == function.arguments;
    if (!enough) {
      text_.wrong(node.begin, fmt::format("in which '{}' has {} argument{}, expected {}; correct it", function.name,
                                          given.size(), given.size() == 1 ? "" : "s",
                                          function.arguments == 0 ? "at least 2" : std::to_string(function.arguments)));
    }
    const Mesh* const mesh = points_.mesh();
    if (mesh == nullptr) {
      text_.wrong(node.begin, fmt::format("in which '{}' is of no variable; name one", function.name));
    }
    std::string problem;
    if (function.kind >= Kind::gradient && points_.in_space()) {
      text_.wrong(node.begin,
                  fmt::format("in which '{}' takes neighbours on the mesh '{}', which is a surface in space; "
                              "compute it in the simulation",
                              function.name, mesh->name));
    }
    step.components = result_components(function, given, *mesh, problem);
    if (step.components == 0) text_.wrong(node.begin, fmt::format("in which '{}' {}", function.name, problem));
    constexpr std::int32_t most = 1024;
    if (step.components > most) {
      text_.wrong(node.begin, fmt::format("which has more than {} components; simplify it", most));
    }
    return add(std::move(step));
  }

  /// Adds a deposit of particles on the cells of the variables of this expression: `cic(mass)`, or, each counting one,
  /// `cic(MESH)`.
  std::size_t deposit(const SyntaxNode& node) {
    const std::string expected = expected_of(node);
    const SyntaxNode* const subject = node.children.empty() ? nullptr : &tree_[node.children[0]];
    const bool chosen = subject != nullptr && subject->kind == NodeKind::component;
    const SyntaxNode* const named = chosen ? &tree_[subject->children[0]] : subject;
    const std::string name(named == nullptr ? std::string_view() : named->text);
    const Variable* const weight = metadata_.find_variable(name);
    const Mesh* const mesh = weight != nullptr ? &metadata_.mesh_of(*weight) : metadata_.find_mesh(name);
    const std::size_t at = named == nullptr ? node.at : named->begin;
    if (mesh == nullptr) text_.wrong(at, fmt::format("in which '{}' is of '{}'; {}", node.text, name, expected));
    if (mesh->kind() != MeshKind::points || (weight != nullptr && weight->derived())) {
      text_.wrong(
          at, fmt::format("in which '{}' is of '{}', which {}; {}", node.text, name,
                          weight != nullptr && weight->derived() ? "is derived itself" : "is no particles'", expected));
    }
    if (weight == nullptr && chosen) {
      text_.wrong(subject->at, fmt::format("where '{}' goes on; {}", node.text, expected));
    }
    points_.add_deposit(node.begin);
    DerivationStep step{.kind = Kind::deposit};
    const auto order = std::find(deposit_names.begin(), deposit_names.end(), node.text) - deposit_names.begin();
    step.deposit.method = static_cast<Assignment>(order + 1);
    step.deposit.particles = mesh->id;
    if (weight != nullptr) weigh(step.deposit, *weight, node, chosen ? subject : nullptr);
    return add(std::move(step));
  }

  /// Sets the weight of a deposit. `component`: the node that chooses one; null if none does.
  void weigh(Deposit& deposit, const Variable& weight, const SyntaxNode& node, const SyntaxNode* component) const {
    deposit.weight = weight.id;
    if (component != nullptr) {
      check_component(*component, weight.components);
      deposit.component = component->index;
    } else if (weight.components > 1) {
      text_.wrong(tree_[node.children[0]].begin,
                  fmt::format("in which '{}' has {} components; take one, as in '{}({}[0])'", weight.name,
                              weight.components, node.text, weight.name));
    }
  }

  [[noreturn]] void unknown(const SyntaxNode& node) const {
    const bool function = node.kind == NodeKind::call;
    std::vector<std::string> known;
    if (function) {
      for (const DerivedFunction& one : derived_functions()) known.emplace_back(one.name);
      const std::vector<std::string> of_numbers = number_function_names();
      known.insert(known.end(), of_numbers.begin(), of_numbers.end());
      known.insert(known.end(), deposit_names.begin(), deposit_names.end());
    } else {
      for (const Variable& one : metadata_.variables) known.push_back(one.name);
      for (const char* word : {"x", "y", "z", "time", "cycle", "iteration", "pi"}) known.emplace_back(word);
    }
    const std::string name(node.text);
    fail_at(text_.place(node.begin), "found the unknown {} '{}' for {}, expected one of {}; {}",
            function ? "function" : "variable", name, text_.what, listed(known),
            suggestion(name, known, function ? "correct it" : "declare it before, or correct the name"));
  }

  const ExpressionText& text_;
  const ExpressionContext& context_;
  const Metadata& metadata_;
  DerivationPoints points_;
  SyntaxTree tree_{};
  std::vector<Operand> operands_{};  ///< by node
  std::vector<DerivationStep> steps_{};
};

}  // namespace

std::shared_ptr<const Derivation> parse_derivation(const std::string& text, const ExpressionContext& context,
                                                   const Metadata& metadata, const std::string& what,
                                                   const Location& where, const Variable* on) {
  // Constants are computed here. They must not depend on the program's floating-point environment.
  const FloatEnvironment environment;
  const ExpressionText whole{text, what, where};
  return std::make_shared<const Derivation>(text, DerivationBuilder(whole, context, metadata, on).run(), metadata);
}

}  // namespace sidestream
