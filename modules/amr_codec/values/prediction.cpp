// The predictor: slopes, means and corrections. prediction_relations.cpp has the predictions from companions.
//
// For a tile, begin() reads the values of parents and of their neighbours and computes a slope along each axis: half
// the difference of the neighbours (central), or the smaller of the two differences if their signs agree (minmod, as in
// slope-limited prolongation of AMR codes; van Leer 1979). predict(step) then gives one child of each group:
//   - by slopes: parent + slope * distance, where the distance is a quarter of the parent's length along each axis;
//   - the last child from the mean: if the parent is the mean of its children (or of an expression over them), the last
//     child follows from the others;
//   - corrected: adds the residuals of the earlier siblings and the changes of slopes (second differences of the
//     parents), each times a weight. The encoder fits the weights and stores them.
// known(step) takes the true values, which means and corrections need.
//
// Values on cell faces: a parent's face is the mean of the children's faces that lie on it. The children with such
// faces come first. The faces of the others lie in the middle of the parent, half a length away.
//
// Rows of 128 numbers, one for each group, keep loops free of branches (prediction_loops.cpp). Results that are NaN
// become 0, since NaN has different bits on different machines.
#include "amr_codec/values/prediction.hpp"

#include <algorithm>

#include "amr_codec/values/elements.hpp"
#include "amr_codec/values/group_order.hpp"
#include "amr_codec/values/prediction_loops.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::trees {

using namespace prediction_loops;

Predictor::Predictor(const TreeChunk& chunk, const Relations& relations, const PredictionPlan& plan, BytesView own,
                     const GroupFinder* finder)
    : chunk_(chunk),
      relations_(relations),
      plan_(plan),
      own_(own),
      dimensions_(static_cast<std::size_t>(chunk.groups.dimensions)),
      children_(children_of(chunk)) {
  if (chunk.parents.empty()) fail(Code::usage, "a chunk without its parents' values, from which its own are predicted");
  if (needs_beside(plan) && chunk.groups.beside.empty()) {
    fail(Code::usage, "a chunk without what is beside its parents, from which its values are predicted");
  }
  needed_ = companions_of(plan, relations);
  for (int number = 0; number < 32; ++number) {
    if ((needed_ >> number & 1) == 0) continue;
    check_companion(chunk, number, own.size() / size_of(chunk.type), declared());
  }
  const auto read = static_cast<std::size_t>(std::popcount(needed_));
  copies_.reset(new Cells[read]);
  parent_rows_.reset(new Row[read]);
  if (plan.faces) {
    lay_out_faces();
  } else {
    lay_out_cells();
  }
  finder_ = finder != nullptr ? finder : &own_finder_;
  const bool neighbours = plan.across || (plan.corrected && plan.slope != Slope::none);
  if (neighbours && finder == nullptr) own_finder_ = GroupFinder(chunk.groups);
}

void Predictor::lay_out_cells() {
  members_ = children_;
  for (std::size_t child = 0; child < children_; ++child) {
    order_[child] = child;
    for (std::size_t a = 0; a < dimensions_; ++a) offsets_[child][a] = (child >> a & 1) != 0 ? 0.25 : -0.25;
  }
}

// Children on the parent's own face come first, because the parent is their mean. The faces of the others lie in the
// middle of the parent.
void Predictor::lay_out_faces() {
  const FaceRelation& face = *relations_.face;
  const auto axis = static_cast<std::size_t>(face.axis);
  members_ = children_ / 2;
  std::size_t on = 0, inner = members_;
  for (std::size_t child = 0; child < children_; ++child) {
    const bool on_face = ((child >> axis & 1) != 0) == face.high;
    order_[on_face ? on++ : inner++] = child;
    for (std::size_t a = 0; a < dimensions_; ++a) offsets_[child][a] = (child >> a & 1) != 0 ? 0.25 : -0.25;
    offsets_[child][axis] = on_face ? 0 : 0.5;
  }
}

void Predictor::use(const GroupOrder& group_order) noexcept {
  group_order_ = &group_order;
  sequence_ = group_order.sequence().data();
  fluxes_ = group_order.fluxes();
  needed_ = 0;
}

void Predictor::begin(std::size_t first, std::size_t count) {
  first_ = first;
  count_ = count;
  read_companions();
  by_parents_ = !plan_.closure;
  if (plan_.closure) {
    std::fill_n(cells_.begin(), count_ * children_, 0.0);
    add_terms(relations_.closure, cells_);
    to_rows(cells_.data(), children_, count_, offset_.data());
    return;
  }
  if (plan_.across) find_across();
  if (plan_.divergence) read_fluxes();
  const bool opposite = plan_.divergence && relations_.face->opposite >= 0;
  by_parents_ = !opposite && !(plan_.across && all_across_);
  if (!by_parents_) return;
  read_parent_numbers();
  read_parents();
  if (plan_.corrected && plan_.slope != Slope::none) {
    read_curvature();
  } else if (plan_.slope != Slope::none) {
    read_numbers_beside();
    read_slopes();
  }
  if (plan_.last != Last::slope) begin_mean();
}

void Predictor::read_parent_numbers() {
  const std::size_t from = sequence_ == nullptr ? first_ : 0;
  pick_numbers(chunk_.groups.parent.data() + from, 1, groups(), count_, parent_at_.data());
}

void Predictor::read_numbers_beside() {
  const std::size_t from = sequence_ == nullptr ? first_ : 0, faces = 2 * dimensions_;
  for (std::size_t face = 0; face < faces; ++face) {
    pick_numbers(chunk_.groups.beside.data() + from * faces + face, faces, groups(), count_, beside_at_[face].data());
  }
}

void Predictor::read_parents() {
  read_elements(chunk_.type, chunk_.parents, parent_at_.data(), count_, parent_.data());
  if (plan_.factor) scaled(relations_.factor, Row(parent_).data(), count_, parent_.data());
}

void Predictor::read_fluxes() {
  if (fluxes_.empty()) {
    read_face_fluxes(chunk_, relations_, first_ * children_, count_ * children_, cells_.data());
    return to_rows(cells_.data(), children_, count_, flux_.data());
  }
  for (std::size_t g = 0; g < count_; ++g) {
    const double* const fluxes = fluxes_.data() + group(g) * children_;
    for (std::size_t child = 0; child < children_; ++child) flux_[child][g] = fluxes[child];
  }
}

void Predictor::read_slopes() {
  const double factor = plan_.factor ? relations_.factor : 1;
  Row below, above;
  std::fill_n(change_.begin(), count_, 0.0);
  for (std::size_t a = 0; a < dimensions_; ++a) {
    const Index *below_at = beside_at_[2 * a].data(), *above_at = beside_at_[2 * a + 1].data();
    read_beside(chunk_.type, chunk_.parents, below_at, count_, below.data());
    read_beside(chunk_.type, chunk_.parents, above_at, count_, above.data());
    if (plan_.faces && static_cast<std::size_t>(relations_.face->axis) == a) {
      const bool down = relations_.face->high;
      add_face_slopes(parent_.data(), down ? below.data() : above.data(), down ? below_at : above_at, factor, count_,
                      slopes_[a].data(), change_.data());
    } else {
      add_slopes(plan_.slope == Slope::central, parent_.data(), {below.data(), above.data(), below_at, above_at},
                 factor, count_, slopes_[a].data(), change_.data());
    }
  }
  numbers_only(count_, change_.data());
}

ParentSlopes Predictor::find_slopes() {
  const std::size_t groups = chunk_.groups.parent.size();
  ParentSlopes found{std::unique_ptr<double[]>(new double[4 * groups]),
                     std::unique_ptr<std::int32_t[]>(new std::int32_t[2 * dimensions_ * groups])};
  for (first_ = 0; first_ < groups; first_ += count_) {
    count_ = std::min(tile_groups, groups - first_);
    read_parent_numbers();
    read_numbers_beside();
    read_parents();
    read_slopes();
    for (std::size_t side = 0; side < 2 * dimensions_; ++side) {
      finder_->find_or_own(beside_at_[side].data(), count_, static_cast<std::int32_t>(first_),
                           found.beside.get() + side * groups + first_);
    }
    double* const out = found.values.get() + 4 * first_;
    for (std::size_t g = 0; g < count_; ++g) {
      for (std::size_t a = 0; a < 3; ++a) out[4 * g + a] = a < dimensions_ ? slopes_[a][g] : 0;
      out[4 * g + 3] = change_[g];
    }
  }
  return found;
}

// A group without a neighbour counts as its own neighbour.
void Predictor::read_curvature() {
  if (parent_slopes_ == nullptr) {
    const std::size_t first = first_, count = count_;
    own_slopes_ = find_slopes();
    parent_slopes_ = &own_slopes_;
    first_ = first;
    count_ = count;
    read_parent_numbers();
    read_parents();
  }
  const double* const slopes = parent_slopes_->values.get();
  const double* const own = slopes + 4 * first_;
  for (std::size_t g = 0; g < count_; ++g) {
    for (std::size_t a = 0; a < 3; ++a) slopes_[a][g] = own[4 * g + a];
    change_[g] = own[4 * g + 3];
  }
  const std::size_t groups = chunk_.groups.parent.size();
  for (std::size_t a = 0; a < dimensions_; ++a) {
    const std::int32_t* const lower = parent_slopes_->beside.get() + 2 * a * groups + first_;
    add_curvature(slopes, {lower, lower + groups}, a, slopes_[a], count_);
  }
}

void Predictor::add_curvature(const double* slopes, const GroupsBeside& beside, std::size_t axis, const Row& own,
                              std::size_t count) {
  const auto at = [&](std::int32_t group, std::size_t a) { return slopes[4 * static_cast<std::size_t>(group) + a]; };
  Row& along = terms_[axis_terms + axis];
  for (std::size_t g = 0; g < count; ++g) {
    along[g] = 0.125 * ((at(beside.lower[g], axis) + at(beside.upper[g], axis)) - 2 * own[g]);
  }
  for (std::size_t b = axis + 1; b < dimensions_; ++b) {
    Row& across = terms_[pair_terms + axis + b - 1];
    for (std::size_t g = 0; g < count; ++g) across[g] = 0.125 * (at(beside.upper[g], b) - at(beside.lower[g], b));
  }
}

void Predictor::begin_mean() {
  const auto members = static_cast<double>(members_);
  std::fill_n(sum_.begin(), count_, 0.0);
  if (!declared()) return scaled(members, parent_.data(), count_, goal_.data());
  const MeanRelation& mean = *relations_.mean;
  Row weight, offset;
  std::fill_n(weight.begin(), count_, 1.0);
  std::fill_n(offset.begin(), count_, 0.0);
  if (mean.weight < 0) {
    for (std::size_t child = 0; child < members_; ++child) std::fill_n(weight_[child].begin(), count_, mean.scale);
  } else {
    read_parent_cells(mean.weight, weight);
    scaled(mean.scale, cells_of(mean.weight), count_ * children_, cells_.data());
    to_rows(cells_.data(), children_, count_, weight_.data());
  }
  std::fill_n(cells_.begin(), count_ * children_, 0.0);
  add_parent_terms(mean.offset, offset);
  add_terms(mean.offset, cells_);
  to_rows(cells_.data(), children_, count_, offset_.data());
  for (std::size_t g = 0; g < count_; ++g) {
    goal_[g] = members * (mean.scale * weight[g] * parent_[g] + offset[g]);
  }
}

void Predictor::predict(std::size_t step) {
  const std::size_t child = order_[step];
  from_.fill(Source::slope);
  uniform_ = true;
  if (plan_.closure) {
    by_closure(child);
  } else {
    if (by_parents_) by_parent(step);
    if (plan_.divergence) by_divergence(step);
    if (plan_.shared) by_shared(child);
  }
  numbers_only(count_, predicted_.data());
}

void Predictor::by_parent(std::size_t step) {
  if (plan_.last != Last::slope && step + 1 == members_) return by_mean(order_[step]);
  if (!plan_.corrected) return by_slope(order_[step], predicted_);
  by_slope(order_[step], slope_predicted_[step]);
  correct(step);
}

void Predictor::by_slope(std::size_t child, Row& out) const {
  if (plan_.slope == Slope::none) {
    std::copy_n(parent_.begin(), count_, out.begin());
    return;
  }
  along_slopes(parent_.data(), offsets_[child], slopes_, dimensions_, count_, out.data());
}

void Predictor::correct(std::size_t step) {
  std::array<Share, correction_terms> shares;
  std::size_t number = 0;
  if (step + 1 < children_) {
    each_correction(step, dimensions_, plan_.slope != Slope::none, [&](std::size_t term) {
      const std::int8_t weight = plan_.weights[step][term];
      if (weight != 0) shares[number++] = {weight / 64.0, terms_[term].data()};
    });
  }
  add_shares(slope_predicted_[step].data(), shares.data(), number, count_, predicted_.data());
}

void Predictor::by_mean(std::size_t child) {
  from_.fill(Source::mean);
  if (!declared()) return subtract(goal_.data(), sum_.data(), count_, predicted_.data());
  solve_mean(goal_.data(), sum_.data(), offset_[child].data(), weight_[child].data(), count_, predicted_.data());
}

void Predictor::known(std::size_t step, const Row& values) {
  const std::size_t child = order_[step];
  if (plan_.divergence) std::copy_n(values.begin(), count_, values_[child].begin());
  if (plan_.corrected && step + 2 < children_) {
    subtract(values.data(), slope_predicted_[step].data(), count_, terms_[step].data());
  }
  if (plan_.last != Last::slope && by_parents_ && step + 1 < members_) add_to_sum(step, values);
}

void Predictor::add_to_sum(std::size_t step, const Row& values) {
  const std::size_t child = order_[step];
  if (declared()) {
    add_weighted(weight_[child].data(), values.data(), offset_[child].data(), count_, sum_.data());
  } else {
    add_share(1, values.data(), count_, sum_.data());
  }
}

}  // namespace sidestream::trees
