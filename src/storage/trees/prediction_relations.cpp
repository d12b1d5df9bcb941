// What companions say of a value.
#include "storage/trees/elements.hpp"
#include "storage/trees/prediction.hpp"

namespace sidestream::trees {

void Predictor::read_cells(int companion, std::size_t son, Row& out) const {
  const Companion& from = chunk_.companions[static_cast<std::size_t>(companion)];
  read_strided(from.type, from.values, first_ * sons_ + son, sons_, count_, out.data());
}

void Predictor::read_father_cells(int companion, Row& out) const {
  const Companion& from = chunk_.companions[static_cast<std::size_t>(companion)];
  read_elements(from.type, from.fathers, chunk_.groups.father.data() + first_, count_, out.data());
}

// Of one son of each group, or of the fathers (-1).
void Predictor::add_terms(const std::vector<RelationTerm>& terms, int son, Row& out) const {
  Row product, factor;
  const auto read = [&](int number) {
    if (son < 0) {
      read_father_cells(number, factor);
    } else {
      read_cells(number, static_cast<std::size_t>(son), factor);
    }
  };
  for (const RelationTerm& term : terms) {
    product.fill(term.coefficient);
    for (const int number : term.times) {
      read(number);
      for (std::size_t g = 0; g < count_; ++g) product[g] *= factor[g];
    }
    for (const int number : term.over) {
      read(number);
      for (std::size_t g = 0; g < count_; ++g) product[g] /= factor[g];
    }
    for (std::size_t g = 0; g < count_; ++g) out[g] += product[g];
  }
}

void Predictor::by_closure(std::size_t son) {
  predicted_.fill(0);
  add_terms(relations_.closure, static_cast<int>(son), predicted_);
  from_.fill(Source::closure);
}

// The face is also that of the cell beside it, in the group or in that of what is beside the father.
void Predictor::by_shared(std::size_t son) {
  const FaceRelation& face = *relations_.face;
  const auto axis = static_cast<std::size_t>(face.axis), faces = 2 * dimensions_;
  const std::size_t across = son ^ (std::size_t{1} << axis);
  const Companion& opposite = chunk_.companions[static_cast<std::size_t>(face.opposite)];
  const bool inner = ((son >> axis & 1) != 0) != face.high;
  if (inner) {
    read_strided(opposite.type, opposite.values, first_ * sons_ + across, sons_, count_, predicted_.data());
    from_.fill(Source::shared);
    uniform_ = true;
    return;
  }
  if (!plan_.across) return;
  const Index* beside = chunk_.groups.beside.data() + first_ * faces + 2 * axis + (face.high ? 1 : 0);
  std::array<Index, tile_groups> cells;
  for (std::size_t g = 0; g < count_; ++g) {
    const Index group = finder_.find(beside[g * faces]);
    cells[g] = group < 0 ? -1 : group * static_cast<Index>(sons_) + static_cast<Index>(across);
  }
  Row there;
  read_beside(opposite.type, opposite.values, cells.data(), 1, count_, there.data());
  for (std::size_t g = 0; g < count_; ++g) {
    predicted_[g] = cells[g] < 0 ? predicted_[g] : there[g];
    from_[g] = cells[g] < 0 ? from_[g] : Source::shared;
  }
  uniform_ = false;
}

// Length along the axis times the sum over the others of (high face - low face) / length, in one son of each group.
void Predictor::read_divergence(std::size_t son, Row& out) const {
  const FaceRelation& face = *relations_.face;
  out.fill(0);
  Row low, high;
  std::size_t next = 0;
  for (std::size_t a = 0; a < dimensions_; ++a) {
    if (a == static_cast<std::size_t>(face.axis)) continue;
    read_cells(face.others[next++], son, low);
    read_cells(face.others[next++], son, high);
    const double ratio = face.lengths.empty() ? 1 : face.lengths[static_cast<std::size_t>(face.axis)] / face.lengths[a];
    for (std::size_t g = 0; g < count_; ++g) out[g] += ratio * (high[g] - low[g]);
  }
}

// From the face at the other end of the same cell; or, where that is not known but a sibling's is, through the sibling.
void Predictor::by_divergence(std::size_t step) {
  const FaceRelation& face = *relations_.face;
  const std::size_t son = order_[step], across = son ^ (std::size_t{1} << face.axis);
  Row low, flow;
  if (face.opposite >= 0) {
    read_cells(face.opposite, son, low);
    read_divergence(son, flow);
  } else if (step >= members_) {
    low = values_[across];
    read_divergence(across, flow);
  } else {
    return;
  }
  // Out of a low face follows the high one by subtraction; what is known is low if a high face is wanted of the same cell,
  // and if a low one is wanted whose cell's lower sibling is known.
  const bool upwards = face.high == (face.opposite >= 0);
  for (std::size_t g = 0; g < count_; ++g) predicted_[g] = upwards ? low[g] - flow[g] : low[g] + flow[g];
  from_.fill(Source::divergence);
}

}  // namespace sidestream::trees
