#include "server/derived_evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sidestream {

using Kind = DerivationStep::Kind;

DerivedFormulas formulas_of(const Derivation& derivation) {
  DerivedFormulas formulas;
  for (const DerivationStep& step : derivation.steps()) {
    std::unique_ptr<Formula>& formula = formulas.emplace_back();
    if (step.kind != Kind::formula) continue;
    std::vector<std::string> names;
    for (std::size_t n = 0; n < step.arguments.size(); ++n) names.push_back(fmt::format("v{}", n));
    formula = std::make_unique<Formula>(step.text, names, step.constants);
  }
  return formulas;
}

DerivedEvaluator::DerivedEvaluator(const Derivation& derivation, DerivedFormulas& formulas,
                                   const DerivedSurroundings& around, const Box& region)
    : steps_(derivation.steps()),
      formulas_(formulas),
      around_(around),
      slopes_(around.mesh, around.points, around.presence),
      fields_(steps_.size()),
      scratch_(steps_.size()) {
  prepare(steps_.size() - 1, region);
}

/// Of what a step takes neighbours of, everything is computed before.
void DerivedEvaluator::prepare(std::size_t number, const Box& region) {
  const DerivationStep& step = steps_[number];
  const Box wider = !step.is_stencil() ? region
                    : around_.cells    ? around_.cells->points()
                                       : intersection(grown(region, 1), around_.region);
  for (const std::size_t argument : step.arguments) {
    prepare(argument, wider);
    if (!step.is_stencil()) continue;
    DerivedField& field = fields_[number];
    field.box = wider;
    for (int c = 0; c < steps_[argument].components; ++c) {
      std::vector<double>& values = field.components.emplace_back(static_cast<std::size_t>(wider.count()));
      for_each_line(wider,
                    [&](const PointLine& line, Index offset) { compute(argument, c, line, values.data() + offset); });
    }
  }
}

std::vector<double>& DerivedEvaluator::scratch(std::size_t step, std::size_t n, Index count) {
  auto& mine = scratch_[step];
  if (mine.size() <= n) mine.resize(n + 1);
  if (mine[n].size() < static_cast<std::size_t>(count)) mine[n].resize(static_cast<std::size_t>(count));
  return mine[n];
}

void DerivedEvaluator::compute(std::size_t number, int component, const PointLine& line, double* out) {
  const DerivationStep& step = steps_[number];
  switch (step.kind) {
    case Kind::variable:
      return around_.inputs.at(step.variable).read(component, line, out);
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
      return compute(step.arguments[0], step.index, line, out);
    case Kind::vector:
      return compute(step.arguments[static_cast<std::size_t>(component)], 0, line, out);
    case Kind::formula:
      return formula(number, component, line, out);
    case Kind::magnitude:
    case Kind::dot:
      return products(number, line, out);
    case Kind::cross:
      return cross(number, component, line, out);
    default:
      return stencil(number, component, line, out);
  }
}

void DerivedEvaluator::formula(std::size_t number, int component, const PointLine& line, double* out) {
  const DerivationStep& step = steps_[number];
  std::vector<const double*> values;
  for (std::size_t n = 0; n < step.arguments.size(); ++n) {
    const std::size_t argument = step.arguments[n];
    double* to = scratch(number, n, line.count).data();
    compute(argument, steps_[argument].components == 1 ? 0 : component, line, to);
    values.push_back(to);
  }
  formulas_[number]->evaluate(values, line.count, out);
}

/// The sum of products of components, the first one first.
void DerivedEvaluator::products(std::size_t number, const PointLine& line, double* out) {
  const DerivationStep& step = steps_[number];
  const bool squares = step.kind == Kind::magnitude;
  const std::size_t a = step.arguments[0], b = squares ? a : step.arguments[1];
  double* left = scratch(number, 0, line.count).data();
  double* right = squares ? left : scratch(number, 1, line.count).data();
  for (int c = 0; c < steps_[a].components; ++c) {
    compute(a, c, line, left);
    if (!squares) compute(b, c, line, right);
    for (Index i = 0; i < line.count; ++i) out[i] = c == 0 ? left[i] * right[i] : out[i] + left[i] * right[i];
  }
  for (Index i = 0; squares && i < line.count; ++i) out[i] = std::sqrt(out[i]);
}

void DerivedEvaluator::cross(std::size_t number, int component, const PointLine& line, double* out) {
  const DerivationStep& step = steps_[number];
  const int u = (component + 1) % 3, v = (component + 2) % 3;
  double* left = scratch(number, 0, line.count).data();
  double* right = scratch(number, 1, line.count).data();
  compute(step.arguments[0], u, line, left);
  compute(step.arguments[1], v, line, right);
  for (Index i = 0; i < line.count; ++i) out[i] = left[i] * right[i];
  compute(step.arguments[0], v, line, left);
  compute(step.arguments[1], u, line, right);
  for (Index i = 0; i < line.count; ++i) out[i] -= left[i] * right[i];
}

void DerivedEvaluator::slope(const DerivedField& field, int component, int axis, const PointLine& line, double* out) {
  if (around_.cells == nullptr) return slopes_.along(field, component, axis, line, out);
  around_.cells->along(field.components[static_cast<std::size_t>(component)].data(), axis, line, out);
}

void DerivedEvaluator::stencil(std::size_t number, int component, const PointLine& line, double* out) {
  const DerivationStep& step = steps_[number];
  const DerivedField& field = fields_[number];
  const int dimensions = around_.mesh.dimensions;
  if (step.kind == Kind::gradient) {
    return slope(field, component / dimensions, component % dimensions, line, out);
  }
  if (step.kind == Kind::curl) {
    const int u = step.components == 1 ? 0 : (component + 1) % 3, v = step.components == 1 ? 1 : (component + 2) % 3;
    return differences(number, {v, u, u, v}, line, out);
  }
  std::fill_n(out, line.count, 0.0);
  double* one = scratch(number, 0, line.count).data();
  double* other = scratch(number, 1, line.count).data();
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

/// du_a/db - du_c/dd of `parts` a, b, c, d; nothing changes along axes that the mesh does not use.
void DerivedEvaluator::differences(std::size_t number, const std::array<int, 4>& parts, const PointLine& line,
                                   double* out) {
  const DerivedField& field = fields_[number];
  const int dimensions = around_.mesh.dimensions;
  std::fill_n(out, line.count, 0.0);
  std::vector<double>& values = scratch(number, 0, line.count);
  if (parts[1] < dimensions) slope(field, parts[0], parts[1], line, out);
  if (parts[3] >= dimensions) return;
  slope(field, parts[2], parts[3], line, values.data());
  for (Index i = 0; i < line.count; ++i) out[i] -= values[static_cast<std::size_t>(i)];
}

}  // namespace sidestream
