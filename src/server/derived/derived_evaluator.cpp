// Evaluation of a derived variable in a region, line by line along the first axis.
//
// The program (DerivedProgram) lists the steps of the expression. Point-wise steps (formulas, products, components) are
// computed on one line at a time. A stencil step (gradient, divergence, curl, ...) needs neighbours of its argument, so
// the argument is computed first in a whole region and kept: such steps are targets. Regions of targets are found
// backwards from the result, one point wider for each derivative, and then filled in ascending order of steps.
#include "server/derived/derived_evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace sidestream {

using Kind = DerivationStep::Kind;

namespace {

/// Smallest box that contains both arguments, which were grown from the same box.
Box hull(const Box& a, const Box& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Box both = a;
  for (std::size_t n = 0; n < 3; ++n) {
    both.lo[n] = std::min(a.lo[n], b.lo[n]);
    both.hi[n] = std::max(a.hi[n], b.hi[n]);
  }
  return both;
}

}  // namespace

DerivedEvaluator::DerivedEvaluator(DerivedProgram& program, const DerivedSurroundings& around, const Box& region)
    : program_(program),
      steps_(program.steps),
      around_(around),
      slopes_(around.mesh, around.points, around.presence),
      fields_(steps_.size()),
      values_(steps_.size()) {
  const std::vector<Box> wanted = regions(region);
  for (std::size_t t = 0; t + 1 < program_.targets.size(); ++t) keep(program_.targets[t], wanted[t]);
}

/// Returns the region in which each target is needed if the last one is needed in `region`. Each derivative widens the
/// regions of its arguments by one point.
std::vector<Box> DerivedEvaluator::regions(const Box& region) const {
  const std::vector<DerivedTarget>& targets = program_.targets;
  std::vector<Box> wanted(targets.size(), Box{{0, 0, 0}, {0, 0, 0}});
  wanted.back() = region;
  for (std::size_t t = targets.size(); t-- > 0;) {
    const Box wider = around_.cells ? around_.cells->points() : intersection(grown(wanted[t], 1), around_.region);
    for (const DerivedPart& part : targets[t].order) {
      if (!steps_[part.step].is_stencil()) continue;
      const auto of =
          std::lower_bound(targets.begin(), targets.end(), steps_[part.step].arguments[0],
                           [](const DerivedTarget& target, std::size_t step) { return target.step < step; });
      Box& mine = wanted[static_cast<std::size_t>(of - targets.begin())];
      mine = hull(mine, wider);
    }
  }
  return wanted;
}

void DerivedEvaluator::keep(const DerivedTarget& target, const Box& region) {
  DerivedField& field = fields_[target.step];
  field.box = region;
  field.components.assign(static_cast<std::size_t>(steps_[target.step].components),
                          std::vector<double>(static_cast<std::size_t>(region.count())));
  for_each_line(region, [&](const PointLine& line, Index offset) {
    compute_all(target, line);
    for (std::size_t c = 0; c < field.components.size(); ++c) {
      std::copy_n(values(target.step, static_cast<int>(c)), line.count, field.components[c].data() + offset);
    }
  });
}

void DerivedEvaluator::line(int component, const PointLine& line, double* out) {
  const DerivedTarget& result = program_.targets.back();
  if (line.first != line_.first || line.count != line_.count) {
    compute_all(result, line);
    line_ = line;
  }
  std::copy_n(values(result.step, component), line.count, out);
}

void DerivedEvaluator::compute_all(const DerivedTarget& target, const PointLine& line) {
  line_ = {};
  const auto count = static_cast<std::size_t>(line.count);
  one_.resize(count);
  other_.resize(count);
  for (const DerivedPart& part : target.order) {
    std::vector<std::vector<double>>& all = values_[part.step];
    all.resize(static_cast<std::size_t>(steps_[part.step].components));
    std::vector<double>& mine = all[static_cast<std::size_t>(part.component)];
    mine.resize(count);
    compute(part, line, mine.data());
  }
}

void DerivedEvaluator::compute(const DerivedPart& part, const PointLine& line, double* out) {
  const DerivationStep& step = steps_[part.step];
  switch (step.kind) {
    case Kind::variable:
      return around_.inputs.at(step.variable).read(part.component, line, out);
    case Kind::coordinate:
      for (Index i = 0; i < line.count; ++i) {
        out[i] = around_.points.coordinate(step.index, {line.first[0] + i, line.first[1], line.first[2]});
      }
      return;
    case Kind::deposit: {
      const DerivedField& field = around_.deposits->at(step.deposit);
      std::copy_n(field.components[0].data() + field.offset(line.first), line.count, out);
      return;
    }
    case Kind::time:
      std::fill_n(out, line.count, around_.iteration.time);
      return;
    case Kind::cycle:
      std::fill_n(out, line.count, static_cast<double>(around_.iteration.cycle));
      return;
    case Kind::iteration:
      std::fill_n(out, line.count, static_cast<double>(around_.iteration.index));
      return;
    case Kind::component:
      std::copy_n(values(step.arguments[0], step.index), line.count, out);
      return;
    case Kind::vector:
      std::copy_n(values(step.arguments[static_cast<std::size_t>(part.component)], 0), line.count, out);
      return;
    case Kind::formula:
      return formula(part, line, out);
    case Kind::magnitude:
    case Kind::dot:
      return products(step, line, out);
    case Kind::cross:
      return cross(step, part.component, line, out);
    default:
      return stencil(step, part.component, line, out);
  }
}

void DerivedEvaluator::formula(const DerivedPart& part, const PointLine& line, double* out) {
  arguments_.clear();
  for (const std::size_t argument : steps_[part.step].arguments) {
    arguments_.push_back(values(argument, steps_[argument].components == 1 ? 0 : part.component));
  }
  steps_[part.step].formula.evaluate(arguments_, line.count, out, scratch_);
}

/// Computes the sum of the products of components, starting with the first; for the magnitude, the root of the squares.
void DerivedEvaluator::products(const DerivationStep& step, const PointLine& line, double* out) const {
  const bool squares = step.kind == Kind::magnitude;
  const std::size_t a = step.arguments[0], b = squares ? a : step.arguments[1];
  for (int c = 0; c < steps_[a].components; ++c) {
    const double* const left = values(a, c);
    const double* const right = values(b, c);
    for (Index i = 0; i < line.count; ++i) out[i] = c == 0 ? left[i] * right[i] : out[i] + left[i] * right[i];
  }
  for (Index i = 0; squares && i < line.count; ++i) out[i] = std::sqrt(out[i]);
}

void DerivedEvaluator::cross(const DerivationStep& step, int component, const PointLine& line, double* out) const {
  const int u = (component + 1) % 3, v = (component + 2) % 3;
  const std::size_t a = step.arguments[0], b = step.arguments[1];
  for (Index i = 0; i < line.count; ++i) out[i] = values(a, u)[i] * values(b, v)[i];
  for (Index i = 0; i < line.count; ++i) out[i] -= values(a, v)[i] * values(b, u)[i];
}

void DerivedEvaluator::slope(const DerivedField& field, int component, int axis, const PointLine& line, double* out) {
  if (around_.cells == nullptr) return slopes_.along(field, component, axis, line, out);
  around_.cells->along(field.components[static_cast<std::size_t>(component)].data(), axis, line, out);
}

void DerivedEvaluator::stencil(const DerivationStep& step, int component, const PointLine& line, double* out) {
  const DerivedField& field = fields_[step.arguments[0]];
  const int dimensions = around_.mesh.dimensions;
  if (step.kind == Kind::cell_mean) {
    return around_.cells->mean(field.components[static_cast<std::size_t>(component)].data(), line, out);
  }
  if (step.kind == Kind::gradient) {
    return slope(field, component / dimensions, component % dimensions, line, out);
  }
  if (step.kind == Kind::curl) {
    const int u = step.components == 1 ? 0 : (component + 1) % 3, v = step.components == 1 ? 1 : (component + 2) % 3;
    return differences(field, {v, u, u, v}, line, out);
  }
  std::fill_n(out, line.count, 0.0);
  double* const one = one_.data();
  double* const other = other_.data();
  for (int a = 0; a < dimensions; ++a) {
    if (step.kind == Kind::divergence) {
      slope(field, a, a, line, one);
      for (Index i = 0; i < line.count; ++i) out[i] = a == 0 ? one[i] : out[i] + one[i];
      continue;
    }
    for (int b = 0; b < dimensions; ++b) {
      slope(field, a, b, line, one);
      slope(field, b, a, line, other);
      for (Index i = 0; i < line.count; ++i) out[i] -= 0.5 * (one[i] * other[i]);
    }
  }
}

/// Computes du_a/db - du_c/dd for `parts` a, b, c, d. Derivatives along axes that the mesh does not have are 0.
void DerivedEvaluator::differences(const DerivedField& field, const std::array<int, 4>& parts, const PointLine& line,
                                   double* out) {
  const int dimensions = around_.mesh.dimensions;
  std::fill_n(out, line.count, 0.0);
  if (parts[1] < dimensions) slope(field, parts[0], parts[1], line, out);
  if (parts[3] >= dimensions) return;
  slope(field, parts[2], parts[3], line, one_.data());
  for (Index i = 0; i < line.count; ++i) out[i] -= one_[static_cast<std::size_t>(i)];
}

namespace {

/// Finds the components of steps that a target needs.
class Needed {
 public:
  Needed(const std::vector<DerivationStep>& steps, std::size_t target) : steps_(steps), parts_(target + 1) {
    need_all(target);
    for (std::size_t step = target + 1; step-- > 0;) {
      for (std::size_t c = 0; c < parts_[step].size(); ++c) {
        if (parts_[step][c]) need_arguments(steps_[step], static_cast<int>(c));
      }
    }
  }

  [[nodiscard]] std::vector<DerivedPart> parts() const {
    std::vector<DerivedPart> all;
    for (std::size_t step = 0; step < parts_.size(); ++step) {
      for (std::size_t c = 0; c < parts_[step].size(); ++c) {
        if (parts_[step][c]) all.push_back({step, static_cast<int>(c)});
      }
    }
    return all;
  }

 private:
  void need(std::size_t step, int component) {
    std::vector<bool>& mine = parts_[step];
    if (mine.empty()) mine.resize(static_cast<std::size_t>(steps_[step].components));
    mine[static_cast<std::size_t>(component)] = true;
  }
  void need_all(std::size_t step) {
    for (int c = 0; c < steps_[step].components; ++c) need(step, c);
  }

  void need_arguments(const DerivationStep& step, int component) {
    if (step.is_stencil()) return;  // it reads a kept region
    switch (step.kind) {
      case Kind::component:
        return need(step.arguments[0], step.index);
      case Kind::vector:
        return need(step.arguments[static_cast<std::size_t>(component)], 0);
      case Kind::cross:
        for (const std::size_t argument : step.arguments) {
          need(argument, (component + 1) % 3);
          need(argument, (component + 2) % 3);
        }
        return;
      case Kind::formula:
        for (const std::size_t argument : step.arguments) {
          need(argument, steps_[argument].components == 1 ? 0 : component);
        }
        return;
      default:  // magnitude and dot
        for (const std::size_t argument : step.arguments) need_all(argument);
    }
  }

  const std::vector<DerivationStep>& steps_;
  std::vector<std::vector<bool>> parts_;  ///< by step and component; empty: no component is needed
};

}  // namespace

DerivedProgram::DerivedProgram(const Derivation& derivation, const Metadata& metadata)
    : steps(all_steps(derivation, metadata)) {
  // Starts from the result, so that only needed steps are kept.
  std::set<std::size_t> kept{steps.size() - 1};
  std::vector<DerivedTarget> found;
  while (!kept.empty()) {
    const std::size_t step = *kept.rbegin();
    kept.erase(step);
    found.push_back({step, Needed(steps, step).parts()});
    for (const DerivedPart& part : found.back().order) {
      if (steps[part.step].is_stencil()) kept.insert(steps[part.step].arguments[0]);
    }
  }
  targets.assign(std::make_move_iterator(found.rbegin()), std::make_move_iterator(found.rend()));
}

}  // namespace sidestream
