#include "storage/trees/prediction.hpp"

#include <cmath>

#include "base/fail.hpp"
#include "storage/trees/elements.hpp"
#include "storage/trees/flows.hpp"

namespace sidestream::trees {

Predictor::Predictor(const TreeChunk& chunk, const Relations& relations, const PredictionPlan& plan, BytesView own,
                     const GroupFinder* finder)
    : chunk_(chunk),
      relations_(relations),
      plan_(plan),
      own_(own),
      dimensions_(static_cast<std::size_t>(chunk.groups.dimensions)),
      sons_(sons_of(chunk)) {
  if (chunk.fathers.empty()) fail(Code::usage, "a chunk without its fathers' values, from which its own are predicted");
  if (needs_beside(plan) && chunk.groups.beside.empty()) {
    fail(Code::usage, "a chunk without what is beside its fathers, from which its values are predicted");
  }
  needed_ = companions_of(plan, relations);
  for (int number = 0; number < 32; ++number) {
    if ((needed_ >> number & 1) == 0) continue;
    check_companion(chunk, number, own.size() / size_of(chunk.type), declared());
  }
  const auto read = static_cast<std::size_t>(std::popcount(needed_));
  copies_.reset(new Cells[read]);
  father_rows_.reset(new Row[read]);
  if (plan.faces) {
    lay_out_faces();
  } else {
    lay_out_cells();
  }
  finder_ = finder != nullptr ? finder : &own_finder_;
  if (plan.across && finder == nullptr) own_finder_ = GroupFinder(chunk.groups);
}

void Predictor::lay_out_cells() {
  members_ = sons_;
  for (std::size_t son = 0; son < sons_; ++son) {
    order_[son] = son;
    for (std::size_t a = 0; a < dimensions_; ++a) offsets_[son][a] = (son >> a & 1) != 0 ? 0.25 : -0.25;
  }
}

// Sons on the father's own face come first: the father is their mean. The faces of the others lie in the father's
// middle.
void Predictor::lay_out_faces() {
  const FaceRelation& face = *relations_.face;
  const auto axis = static_cast<std::size_t>(face.axis);
  members_ = sons_ / 2;
  std::size_t on = 0, inner = members_;
  for (std::size_t son = 0; son < sons_; ++son) {
    const bool on_face = ((son >> axis & 1) != 0) == face.high;
    order_[on_face ? on++ : inner++] = son;
    for (std::size_t a = 0; a < dimensions_; ++a) offsets_[son][a] = (son >> a & 1) != 0 ? 0.25 : -0.25;
    offsets_[son][axis] = on_face ? 0 : 0.5;
  }
}

void Predictor::begin(std::size_t first, std::size_t count) {
  first_ = first;
  count_ = count;
  read_companions();
  if (plan_.closure) {
    offset_.fill(0);
    add_terms(relations_.closure, offset_);
    return;
  }
  read_fathers();
  if (plan_.divergence) {
    flow_now_ = flows_.empty() ? flow_.data() : flows_.data() + first * sons_;
    if (flows_.empty()) read_flows(chunk_, relations_, first * sons_, count * sons_, flow_.data());
  }
  if (plan_.slope != Slope::none) read_slopes();
  if (plan_.last != Last::slope) begin_mean();
}

void Predictor::read_fathers() {
  read_elements(chunk_.type, chunk_.fathers, chunk_.groups.father.data() + first_, count_, father_.data());
  if (plan_.factor) {
    for (std::size_t g = 0; g < count_; ++g) father_[g] *= relations_.factor;
  }
}

namespace {

// Both are 0 towards where there is nothing.
double central(double below, double above, bool both) noexcept { return both ? 0.5 * (below + above) : below + above; }

double limited(double below, double above, bool) noexcept {
  const double flatter = std::fabs(below) < std::fabs(above) ? below : above;
  return below * above > 0 ? flatter : 0;
}

}  // namespace

void Predictor::read_slopes() {
  const std::size_t faces = 2 * dimensions_;
  const double factor = plan_.factor ? relations_.factor : 1;
  const Index* beside = chunk_.groups.beside.data() + first_ * faces;
  std::array<double, tile_groups> below, above;
  for (std::size_t a = 0; a < dimensions_; ++a) {
    read_beside(chunk_.type, chunk_.fathers, beside + 2 * a, faces, count_, below.data());
    read_beside(chunk_.type, chunk_.fathers, beside + 2 * a + 1, faces, count_, above.data());
    if (plan_.faces && static_cast<std::size_t>(relations_.face->axis) == a) {
      // From the father's face to the one at its other side.
      const std::size_t side = relations_.face->high ? 0 : 1;
      const Row& there = side == 0 ? below : above;
      for (std::size_t g = 0; g < count_; ++g) {
        slopes_[a][g] = beside[faces * g + 2 * a + side] < 0 ? 0 : there[g] * factor - father_[g];
      }
      continue;
    }
    for (std::size_t g = 0; g < count_; ++g) {
      const Index* cells = beside + faces * g + 2 * a;
      const double down = cells[0] < 0 ? 0 : father_[g] - below[g] * factor;
      const double up = cells[1] < 0 ? 0 : above[g] * factor - father_[g];
      const bool both = cells[0] >= 0 && cells[1] >= 0;
      slopes_[a][g] = plan_.slope == Slope::central ? central(down, up, both) : limited(down, up, both);
    }
  }
}

void Predictor::begin_mean() {
  const auto members = static_cast<double>(members_);
  sum_.fill(0);
  if (!declared()) {
    for (std::size_t g = 0; g < count_; ++g) goal_[g] = members * father_[g];
    return;
  }
  const MeanRelation& mean = *relations_.mean;
  Row weight, offset;
  weight.fill(1);
  offset.fill(0);
  offset_.fill(0);
  weight_.fill(mean.scale);
  if (mean.weight >= 0) {
    read_father_cells(mean.weight, weight);
    const double* cells = cells_of(mean.weight);
    for (std::size_t n = 0; n < count_ * sons_; ++n) weight_[n] = mean.scale * cells[n];
  }
  add_father_terms(mean.offset, offset);
  add_terms(mean.offset, offset_);
  for (std::size_t g = 0; g < count_; ++g) {
    goal_[g] = members * (mean.scale * weight[g] * father_[g] + offset[g]);
  }
}

void Predictor::pick(const double* cells, std::size_t son, Row& out) const noexcept {
  for (std::size_t g = 0; g < count_; ++g) out[g] = cells[g * sons_ + son];
}

void Predictor::predict(std::size_t step) {
  const std::size_t son = order_[step];
  from_.fill(Source::slope);
  uniform_ = true;
  if (plan_.closure) {
    by_closure(son);
  } else {
    if (plan_.last != Last::slope && step + 1 == members_) {
      by_mean(son);
    } else {
      by_slope(son);
      if (plan_.siblings) add_siblings(step);
    }
    if (plan_.divergence) by_divergence(step);
    if (plan_.shared) by_shared(son);
  }
  // What is not a number differs from machine to machine.
  for (std::size_t g = 0; g < count_; ++g) predicted_[g] = predicted_[g] == predicted_[g] ? predicted_[g] : 0.0;
}

void Predictor::by_slope(std::size_t son) {
  if (plan_.slope == Slope::none) {
    predicted_ = father_;
    return;
  }
  const std::array<double, 3>& offset = offsets_[son];
  const Row &x = slopes_[0], &y = slopes_[1], &z = slopes_[2];
  switch (dimensions_) {
    case 1:
      for (std::size_t g = 0; g < count_; ++g) predicted_[g] = father_[g] + offset[0] * x[g];
      break;
    case 2:
      for (std::size_t g = 0; g < count_; ++g) predicted_[g] = father_[g] + (offset[0] * x[g] + offset[1] * y[g]);
      break;
    default:
      for (std::size_t g = 0; g < count_; ++g) {
        predicted_[g] = father_[g] + ((offset[0] * x[g] + offset[1] * y[g]) + offset[2] * z[g]);
      }
  }
}

namespace {

void add_share(double share, const double* __restrict of, std::size_t count, double* __restrict to) {
  for (std::size_t g = 0; g < count; ++g) to[g] += share * of[g];
}

}  // namespace

void Predictor::add_siblings(std::size_t step) {
  slope_predicted_[step] = predicted_;
  if (step < 2 || step + 1 == sons_) return;
  for (std::size_t other = 0; other < step; ++other) {
    const double share = plan_.weights[step][other] / 64.0;
    add_share(share, apart_[other].data(), count_, predicted_.data());
  }
}

void Predictor::by_mean(std::size_t son) {
  from_.fill(Source::mean);
  if (!declared()) {
    for (std::size_t g = 0; g < count_; ++g) predicted_[g] = goal_[g] - sum_[g];
    return;
  }
  for (std::size_t g = 0; g < count_; ++g) {
    const std::size_t cell = g * sons_ + son;
    predicted_[g] = ((goal_[g] - sum_[g]) - offset_[cell]) / weight_[cell];
  }
}

void Predictor::known(std::size_t step, const Row& values) {
  if (plan_.divergence) values_[order_[step]] = values;
  if (plan_.siblings && step + 2 < sons_) {
    for (std::size_t g = 0; g < count_; ++g) apart_[step][g] = values[g] - slope_predicted_[step][g];
  }
  if (plan_.last != Last::slope && !plan_.closure && step + 1 < members_) add_to_sum(step, values);
}

void Predictor::add_to_sum(std::size_t step, const Row& values) {
  if (!declared()) {
    for (std::size_t g = 0; g < count_; ++g) sum_[g] += values[g];
    return;
  }
  const std::size_t son = order_[step];
  for (std::size_t g = 0; g < count_; ++g) {
    const std::size_t cell = g * sons_ + son;
    sum_[g] += weight_[cell] * values[g] + offset_[cell];
  }
}

}  // namespace sidestream::trees
