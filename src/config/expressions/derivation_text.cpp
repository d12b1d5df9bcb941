#include "config/expressions/derivation_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/formula.hpp"
#include "base/text.hpp"
#include "config/expressions/derived_section.hpp"
#include "config/options/document.hpp"
#include "config/options/names.hpp"

namespace sidestream {

namespace {

using Kind = DerivationStep::Kind;

constexpr std::size_t nothing = std::string::npos;
constexpr std::array<std::string_view, 3> axis_names{"x", "y", "z"};
constexpr std::array<std::string_view, 3> deposit_names{"ngp", "cic", "tsc"};  // by Assignment

bool is_word(char c) { return is_letter_or_digit(c) || c == '_'; }

/// A formula on its way to muParser: names are replaced, places are kept.
struct Draft {
  DerivationStep step{.kind = Kind::formula};
  std::vector<std::size_t> places{};  ///< of each character in the whole text

  void add(std::string_view text, std::size_t place) {
    step.text += text;
    places.resize(step.text.size(), place);
  }
  void add_argument(std::size_t argument, std::size_t place) {
    std::vector<std::size_t>& all = step.arguments;
    const auto found = std::find(all.begin(), all.end(), argument);
    add(fmt::format(" v{} ", found - all.begin()), place);
    if (found == all.end()) all.push_back(argument);
  }
  void add_constant(double value, std::size_t place) {
    const std::string name = fmt::format("c{}", step.constants.size());
    step.constants.emplace_back(name, value);
    add(" " + name + " ", place);
  }
};

class FormulaParser {
 public:
  FormulaParser(const std::string& text, const ExpressionContext& context, const Metadata& metadata,
                const std::string& what, const Location& where, const Variable* on)
      : text_(text),
        context_(context),
        metadata_(metadata),
        what_(what),
        where_(where),
        on_(on != nullptr),
        like_(on) {}

  std::vector<DerivationStep> run() {
    if (!why_no_formulas().empty()) fail_at(where_, "found {}, but {}", what_, why_no_formulas());
    constexpr std::size_t longest = 4096;
    if (text_.size() > longest) {
      fail_at(where_, "found a text longer than {} characters for {}; divide it among several variables", longest,
              what_);
    }
    const std::size_t result = expression(0, text_.size());
    if (like_ == nullptr) {
      fail_at(where_, "found '{}' for {}, which names no variable, so that nothing says where it lies; name one{}",
              text_, what_, deposit_at_ == nothing ? "" : ", or, of a derived variable with a name, its `mesh`");
    }
    if (deposit_at_ != nothing) place_deposits();
    const auto is_deposit = [this](const DerivationStep& step) {
      return step.kind == Kind::deposit || (step.kind == Kind::derived && !derivation_of(step).deposits().empty());
    };
    if (on_ && std::none_of(steps_.begin(), steps_.end(), is_deposit)) {
      wrong(0, "which puts no particles on a mesh; `mesh` is for expressions with cic, ngp or tsc: remove it");
    }
    if (coordinate_at_ != nothing) check_places();
    if (const std::string problem = place_steps(steps_, metadata_, metadata_.mesh_of(*like_)); !problem.empty()) {
      wrong(0, problem);
    }
    steps_.resize(result + 1);
    return std::move(steps_);
  }

 private:
  [[nodiscard]] Location place(std::size_t at) const {
    Location there = where_;
    if (there.line > 0) there.column += static_cast<int>(at);
    return there;
  }
  /// `problem`: after "found 'text' for what, ".
  [[noreturn]] void wrong(std::size_t at, const std::string& problem) const {
    fail_at(place(at), "found '{}' for {}, {}", text_, what_, problem);
  }
  [[noreturn]] void not_understood(std::size_t at) const {
    wrong(at, at < text_.size() ? fmt::format("where '{}' cannot be read; expected an expression such as "
                                              "'0.5 * rho * magnitude(velocity)^2'",
                                              text_.substr(at))
                                : "which ends too early; complete it");
  }

  [[nodiscard]] std::size_t after_blanks(std::size_t at, std::size_t end) const {
    while (at < end && is_blank(text_[at])) ++at;
    return at;
  }
  [[nodiscard]] std::string word_at(std::size_t at, std::size_t end) const {
    std::size_t last = at;
    while (last < end && is_word(text_[last])) ++last;
    return text_.substr(at, last - at);
  }
  /// Where the parenthesis that opens at `at` closes.
  [[nodiscard]] std::size_t closing(std::size_t at, std::size_t end) const {
    int depth = 0;
    for (std::size_t n = at; n < end; ++n) {
      if (text_[n] == '\'' || text_[n] == '"') n = std::min(end, text_.find(text_[n], n + 1));
      if (n < end && text_[n] == '(') ++depth;
      if (n < end && text_[n] == ')' && --depth == 0) return n;
    }
    wrong(at, "in which this parenthesis is not closed; add a ')'");
  }

  [[nodiscard]] const Derivation& derivation_of(const DerivationStep& step) const {
    return *metadata_.variables.at(static_cast<std::size_t>(step.variable)).derivation;
  }

  std::size_t add(DerivationStep step) {
    steps_.push_back(std::move(step));
    return steps_.size() - 1;
  }

  std::size_t expression(std::size_t begin, std::size_t end) {
    constexpr int limit = 100;
    if (++depth_ > limit) wrong(begin, fmt::format("which is nested more than {} deep; simplify it", limit));
    Draft draft;
    for (std::size_t at = begin; at < end;) at = token(draft, at, end);
    --depth_;
    return finish(std::move(draft), begin, end);
  }

  /// Takes the next part of the text into the draft; returns where the one after it begins.
  std::size_t token(Draft& draft, std::size_t at, std::size_t end) {
    const char c = text_[at];
    if (is_digit(c) || (c == '.' && at + 1 < end && is_digit(text_[at + 1]))) return number(draft, at, end);
    if (c == '$') return parameter(draft, at, end);
    if (c == '\'' || c == '"') return quoted(draft, at, end);
    if (is_word(c)) return word(draft, at, end);
    if (c == '(') {
      const std::size_t close = closing(at, end);
      if (!component_follows(close + 1, end)) return sign(draft, at, end);
      const std::size_t inside = expression(at + 1, close);
      return operand(draft, inside, at, close + 1, end);
    }
    return sign(draft, at, end);
  }

  std::size_t sign(Draft& draft, std::size_t at, std::size_t end) {
    const char c = text_[at], next = at + 1 < end ? text_[at + 1] : '\0', before = at > 0 ? text_[at - 1] : '\0';
    if (std::string_view("+-*/^()<>=!&|?:, \t\n\r").find(c) == nothing) not_understood(at);
    if (c == '*' && next == '*') wrong(at, "where '**' cannot be read; write '^' for powers");
    const bool compares = next == '=' || std::string_view("<>=!").find(before) != nothing;
    if (c == '=' && !compares) wrong(at, "where '=' cannot be read; write '==' to compare");
    draft.add(text_.substr(at, 1), at);
    return at + 1;
  }

  std::size_t number(Draft& draft, std::size_t at, std::size_t end) {
    double value = 0;
    const auto read = std::from_chars(text_.data() + at, text_.data() + end, value);
    if (read.ec != std::errc()) wrong(at, "in which this number does not fit in 64 bits; write another");
    draft.add_constant(value, at);
    return static_cast<std::size_t>(read.ptr - text_.data());
  }

  std::size_t parameter(Draft& draft, std::size_t at, std::size_t end) {
    const std::string name = word_at(at + 1, end);
    if (name.empty()) not_understood(at);
    draft.add_constant(as_real(evaluate("$" + name, context_, what_, place(at))), at);
    return at + 1 + name.size();
  }

  std::size_t quoted(Draft& draft, std::size_t at, std::size_t end) {
    const std::size_t last = text_.find(text_[at], at + 1);
    if (last == nothing || last >= end) wrong(at, "in which this quote is not closed; close it");
    const std::string name = text_.substr(at + 1, last - at - 1);
    const Variable* variable = metadata_.find_variable(name);
    if (variable == nullptr) unknown(name, at, false);
    return operand(draft, of_variable(*variable, at), at, last + 1, end);
  }

  std::size_t word(Draft& draft, std::size_t at, std::size_t end) {
    const std::string name = word_at(at, end);
    const std::size_t behind = at + name.size(), open = after_blanks(behind, end);
    if (open < end && text_[open] == '(') return call(draft, name, at, open, end);
    if (const Variable* variable = metadata_.find_variable(name)) {
      return operand(draft, of_variable(*variable, at), at, behind, end);
    }
    if (name == "pi") {
      draft.add_constant(3.14159265358979323846, at);
      return behind;
    }
    const auto axis = std::find(axis_names.begin(), axis_names.end(), name);
    DerivationStep step;
    if (axis != axis_names.end()) {
      step.kind = Kind::coordinate;
      step.index = static_cast<std::int32_t>(axis - axis_names.begin());
      coordinate_at_ = std::min(coordinate_at_, at);
      axes_ = std::max(axes_, step.index);
    } else if (name == "time" || name == "cycle" || name == "iteration") {
      step.kind = name == "time" ? Kind::time : name == "cycle" ? Kind::cycle : Kind::iteration;
    } else {
      unknown(name, at, false);
    }
    return operand(draft, add(std::move(step)), at, behind, end);
  }

  std::size_t call(Draft& draft, const std::string& name, std::size_t at, std::size_t open, std::size_t end) {
    if (std::find(deposit_names.begin(), deposit_names.end(), name) != deposit_names.end()) {
      const std::size_t close = closing(open, end);
      return operand(draft, deposit(name, at, open, close), at, close + 1, end);
    }
    const std::vector<DerivedFunction>& own = derived_functions();
    const auto found = std::find_if(own.begin(), own.end(), [&](const DerivedFunction& f) { return f.name == name; });
    if (found == own.end()) {
      const std::vector<std::string> known = formula_functions();
      if (std::find(known.begin(), known.end(), name) == known.end()) unknown(name, at, true);
      const std::size_t close = closing(open, end);
      if (component_follows(close + 1, end)) return operand(draft, expression_of_call(at, close), at, close + 1, end);
      draft.add(name, at);
      return open;
    }
    const std::size_t close = closing(open, end);
    return operand(draft, apply(*found, at, open, close), at, close + 1, end);
  }

  /// A function of numbers by itself: `sqrt(velocity).x`.
  std::size_t expression_of_call(std::size_t at, std::size_t close) {
    Draft draft;
    const std::string name = word_at(at, close);
    draft.add(name, at);
    for (std::size_t n = after_blanks(at + name.size(), close); n <= close;) n = token(draft, n, close + 1);
    return finish(std::move(draft), at, close + 1);
  }

  std::size_t apply(const DerivedFunction& function, std::size_t at, std::size_t open, std::size_t close) {
    DerivationStep step;
    step.kind = function.kind;
    std::vector<std::int32_t> given;
    for (const auto& [first, last] : arguments(open + 1, close)) {
      step.arguments.push_back(expression(first, last));
      given.push_back(steps_[step.arguments.back()].components);
    }
    const bool enough = function.arguments == 0 ? given.size() >= 2 : given.size() == function.arguments;
    if (!enough) {
      wrong(at, fmt::format("in which '{}' has {} argument{}, expected {}; correct it", function.name, given.size(),
                            given.size() == 1 ? "" : "s",
                            function.arguments == 0 ? "at least 2" : std::to_string(function.arguments)));
    }
    if (like_ == nullptr) wrong(at, fmt::format("in which '{}' is of no variable; name one", function.name));
    std::string problem;
    step.components = result_components(function, given, metadata_.mesh_of(*like_), problem);
    if (step.components == 0) wrong(at, fmt::format("in which '{}' {}", function.name, problem));
    constexpr std::int32_t most = 1024;
    if (step.components > most) wrong(at, fmt::format("which has more than {} components; simplify it", most));
    return add(std::move(step));
  }

  /// Particles on the cells of the variables of this expression: `cic(mass)`, or, each counting one, `cic(MESH)`.
  std::size_t deposit(const std::string& method, std::size_t at, std::size_t open, std::size_t close) {
    std::size_t begin = after_blanks(open + 1, close), behind = begin;
    std::string name = word_at(begin, close);
    if (begin < close && (text_[begin] == '\'' || text_[begin] == '"')) {
      behind = std::min(close, text_.find(text_[begin], begin + 1));
      name = text_.substr(begin + 1, behind - begin - 1);
      ++behind;
    } else {
      behind += name.size();
    }
    DerivationStep step{.kind = Kind::deposit};
    const auto order = std::find(deposit_names.begin(), deposit_names.end(), method) - deposit_names.begin();
    step.deposit.method = static_cast<Assignment>(order + 1);
    const Variable* weight = metadata_.find_variable(name);
    const Mesh* mesh = weight != nullptr ? &metadata_.mesh_of(*weight) : metadata_.find_mesh(name);
    const std::string expected = fmt::format(
        "expected a variable of particles as it is published, or a mesh of them, "
        "as in '{}(mass)'",
        method);
    if (mesh == nullptr) wrong(begin, fmt::format("in which '{}' is of '{}'; {}", method, name, expected));
    if (mesh->kind() != MeshKind::points || (weight != nullptr && weight->derived())) {
      wrong(begin,
            fmt::format("in which '{}' is of '{}', which {}; {}", method, name,
                        weight != nullptr && weight->derived() ? "is derived itself" : "is no particles'", expected));
    }
    step.deposit.particles = mesh->id;
    if (weight != nullptr) {
      step.deposit.weight = weight->id;
      const bool chosen = component_follows(behind, close);
      if (!chosen && weight->components > 1) {
        wrong(begin, fmt::format("in which '{}' has {} components; take one, as in '{}({}[0])'", name,
                                 weight->components, method, name));
      }
      if (chosen) step.deposit.component = component_at(behind, close, weight->components);
    }
    if (after_blanks(behind, close) != close) wrong(behind, fmt::format("where '{}' goes on; {}", method, expected));
    deposit_at_ = std::min(deposit_at_, at);
    return add(std::move(step));
  }

  /// Deposits lie where the variables do.
  void place_deposits() {
    const Mesh& mesh = metadata_.mesh_of(*like_);
    if (mesh.kind() != MeshKind::uniform || !mesh.refinement.empty() || like_->centering != Centering::cell) {
      wrong(deposit_at_, fmt::format("which puts particles on '{}', expected the cells of a uniform mesh of one level: "
                                     "'{}' lies at {}s of '{}', which is {}{}",
                                     mesh.name, like_->name, name_of(like_->centering, mesh.dimensions), mesh.name,
                                     mesh.geometry ? mesh.geometry->kind() : "not declared",
                                     mesh.refinement.empty() ? "" : " and has refinement levels"));
    }
    for (DerivationStep& step : steps_) {
      if (step.kind != Kind::deposit || step.variable >= 0) continue;  // of a derived variable it is known
      step.variable = like_->derived() ? like_->derivation->inputs().front() : like_->id;
      const Mesh& particles = metadata_.meshes.at(static_cast<std::size_t>(step.deposit.particles));
      if (particles.dimensions == mesh.dimensions) continue;
      wrong(deposit_at_, fmt::format("which puts the particles '{}' of {} dimensions on '{}' of {}; expected as many",
                                     particles.name, particles.dimensions, mesh.name, mesh.dimensions));
    }
  }

  /// Begin and end of what stands between the commas.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> arguments(std::size_t begin, std::size_t end) const {
    std::vector<std::pair<std::size_t, std::size_t>> all;
    std::size_t first = begin;
    for (std::size_t n = begin; n < end; ++n) {
      if (text_[n] == '\'' || text_[n] == '"') n = std::min(end, text_.find(text_[n], n + 1));
      if (n < end && text_[n] == '(') n = closing(n, end);
      if (n < end && text_[n] == ',') {
        all.emplace_back(first, n);
        first = n + 1;
      }
    }
    if (!all.empty() || after_blanks(first, end) < end) all.emplace_back(first, end);
    return all;
  }

  /// Whether `.x` or `[0]` stands there.
  [[nodiscard]] bool component_follows(std::size_t at, std::size_t end) const {
    at = after_blanks(at, end);
    if (at < end && text_[at] == '[') return true;
    const std::string name = at < end && text_[at] == '.' ? word_at(at + 1, end) : std::string();
    return std::find(axis_names.begin(), axis_names.end(), name) != axis_names.end();
  }

  /// Takes a step and the component of it that is asked for, if one is.
  std::size_t operand(Draft& draft, std::size_t step, std::size_t at, std::size_t behind, std::size_t end) {
    if (!component_follows(behind, end)) {
      draft.add_argument(step, at);
      return behind;
    }
    const std::int32_t number = component_at(behind, end, steps_[step].components);
    DerivationStep component;
    component.kind = Kind::component;
    component.arguments = {step};
    component.index = number;
    draft.add_argument(add(std::move(component)), at);
    return behind;
  }

  /// The number of the component that is asked for at `at`, which goes behind it.
  std::int32_t component_at(std::size_t& at, std::size_t end, std::int32_t count) const {
    const std::size_t sign_at = after_blanks(at, end);
    std::size_t next = sign_at + 2;
    std::int32_t number = 0;
    if (text_[sign_at] == '.') {
      number = text_[sign_at + 1] - 'x';
    } else {
      const char* last = text_.data() + end;
      const auto read = std::from_chars(text_.data() + after_blanks(sign_at + 1, end), last, number);
      next = after_blanks(static_cast<std::size_t>(read.ptr - text_.data()), end);
      if (read.ec != std::errc() || next >= end || text_[next] != ']') {
        wrong(sign_at, "in which '[' is not followed by a whole number and ']'; write one, from 0");
      }
      ++next;
    }
    if (number < 0 || number >= count) {
      wrong(sign_at, fmt::format("in which component {} is asked for of something that has {}; expected one from 0 to "
                                 "{}",
                                 number, count, count - 1));
    }
    at = next;
    return number;
  }

  std::size_t of_variable(const Variable& variable, std::size_t at) {
    check_points(variable, at);
    DerivationStep step;
    if (variable.derived()) step.kind = Kind::derived;
    step.variable = variable.id;
    step.components = variable.components;
    return add(std::move(step));
  }

  /// All must lie at the same points.
  void check_points(const Variable& variable, std::size_t at) {
    const Mesh& mesh = metadata_.mesh_of(variable);
    const bool list = variable.role == Role::connectivity || variable.role == Role::faces;
    if (list) wrong(at, fmt::format("in which '{}' is a list of the mesh and no values on it", variable.name));
    if (like_ == nullptr) {
      like_ = &variable;
      return;
    }
    if (like_->mesh != variable.mesh) {
      wrong(at, fmt::format("in which '{}' lies on the mesh '{}' and '{}' on '{}'; use variables on one mesh",
                            variable.name, mesh.name, like_->name, metadata_.mesh_of(*like_).name));
    }
    if (like_->centering != variable.centering && mesh.kind() != MeshKind::unstructured) {
      wrong(at, fmt::format("in which '{}' has the centering {} and '{}' {}; values at different points are not "
                            "interpolated: use variables of one centering",
                            variable.name, name_of(variable.centering, mesh.dimensions), like_->name,
                            name_of(like_->centering, mesh.dimensions)));
    }
  }

  /// Whether it can be said where the points are.
  void check_places() const {
    const Mesh& mesh = metadata_.mesh_of(*like_);
    const bool derivatives = std::any_of(steps_.begin(), steps_.end(), [this](const DerivationStep& step) {
      return step.is_stencil() || (step.kind == Kind::derived && derivation_of(step).has_stencils());
    });
    const bool centres = like_->centering == Centering::cell && !derivatives;
    if (axes_ >= mesh.dimensions) {
      wrong(coordinate_at_, fmt::format("which takes the coordinate '{}' on the mesh '{}' of {} dimension{}; remove it",
                                        axis_names[static_cast<std::size_t>(axes_)], mesh.name, mesh.dimensions,
                                        mesh.dimensions == 1 ? "" : "s"));
    }
    if (mesh.axes() || mesh.kind() == MeshKind::curvilinear || mesh.kind() == MeshKind::points) return;
    if (mesh.kind() == MeshKind::unstructured && !centres) return;
    wrong(coordinate_at_,
          fmt::format("which takes coordinates of the {} of the mesh '{}', which is {}; they are known of points of an "
                      "unstructured mesh alone: publish them as a variable",
                      centres ? "cells" : "points", mesh.name, mesh.geometry ? mesh.geometry->kind() : "not declared"));
  }

  [[noreturn]] void unknown(const std::string& name, std::size_t at, bool function) const {
    std::vector<std::string> known;
    for (const DerivedFunction& one : derived_functions()) known.emplace_back(one.name);
    const std::vector<std::string> of_numbers = formula_functions();
    known.insert(known.end(), of_numbers.begin(), of_numbers.end());
    known.insert(known.end(), deposit_names.begin(), deposit_names.end());
    if (!function) {
      known.clear();
      for (const Variable& one : metadata_.variables) known.push_back(one.name);
      for (const char* word : {"x", "y", "z", "time", "cycle", "iteration", "pi"}) known.emplace_back(word);
    }
    fail_at(place(at), "found the unknown {} '{}' for {}, expected one of {}; {}", function ? "function" : "variable",
            name, what_, listed(known),
            suggestion(name, known, function ? "correct it" : "declare it before, or correct the name"));
  }

  /// Lets muParser check it. A formula that is one name alone is what the name stands for.
  std::size_t finish(Draft draft, std::size_t begin, std::size_t end) {
    DerivationStep& step = draft.step;
    if (step.arguments.size() == 1 && step.constants.empty()) {
      std::string_view text = step.text;
      while (text.starts_with(' ')) text.remove_prefix(1);
      while (text.ends_with(' ')) text.remove_suffix(1);
      if (text == "v0") return step.arguments[0];
    }
    std::vector<std::string> names;
    for (std::size_t n = 0; n < step.arguments.size(); ++n) names.push_back(fmt::format("v{}", n));
    try {
      const Formula checked(step.text, names, step.constants);
    } catch (const FormulaError& error) {
      const std::size_t at = error.position();
      const std::size_t there = at < draft.places.size() ? draft.places[at] : end;
      wrong(std::max(there, begin), fmt::format("{}; correct it", error.what()));
    }
    for (const std::size_t argument : step.arguments) join(step, argument, begin);
    return add(std::move(step));
  }

  /// Numbers go with vectors, and vectors with those of as many components.
  void join(DerivationStep& step, std::size_t argument, std::size_t at) const {
    const std::int32_t count = steps_[argument].components;
    if (count == 1 || step.components == count) return;
    if (step.components != 1) {
      wrong(at, fmt::format("which joins vectors of {} and {} components, expected as many; take components, as in "
                            "'velocity.x', or magnitudes",
                            step.components, count));
    }
    step.components = count;
  }

  const std::string& text_;
  const ExpressionContext& context_;
  const Metadata& metadata_;
  const std::string& what_;
  const Location& where_;
  std::vector<DerivationStep> steps_{};
  bool on_;                              ///< it was said where the result lies
  const Variable* like_;                 ///< says where the result lies; null: nothing has yet
  std::size_t coordinate_at_ = nothing;  ///< where the first is
  std::size_t deposit_at_ = nothing;     ///< likewise
  std::int32_t axes_ = 0;                ///< the last that coordinates are along
  int depth_ = 0;
};

}  // namespace

std::shared_ptr<const Derivation> parse_derivation(const std::string& text, const ExpressionContext& context,
                                                   const Metadata& metadata, const std::string& what,
                                                   const Location& where, const Variable* on) {
  return std::make_shared<const Derivation>(text, FormulaParser(text, context, metadata, what, where, on).run(),
                                            metadata);
}

}  // namespace sidestream
