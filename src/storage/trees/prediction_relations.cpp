// What companions say of a value.
#include "storage/trees/elements.hpp"
#include "storage/trees/prediction.hpp"

namespace sidestream::trees {

void Predictor::read_companions() {
  std::size_t next = 0;
  for (std::size_t n = 0; n < near_.size(); ++n) {
    if ((needed_ >> n & 1) == 0) continue;
    const Companion& from = chunk_.companions[n];
    near_[n] = read_run(from.type, from.values, first_ * sons_, count_ * sons_, copies_[next++].data());
  }
}

void Predictor::read_father_cells(int companion, Row& out) const {
  const Companion& from = chunk_.companions[static_cast<std::size_t>(companion)];
  read_elements(from.type, from.fathers, chunk_.groups.father.data() + first_, count_, out.data());
}

namespace {

// Up to three factors in one go; the order of the operations is that of one after the other.
template <class Numbers>
void multiply(Numbers& product, const std::vector<const double*>& by, std::size_t count) {
  std::size_t next = 0;
  for (; next + 1 < by.size(); next += 2) {
    const double *a = by[next], *b = by[next + 1];
    for (std::size_t n = 0; n < count; ++n) product[n] = product[n] * a[n] * b[n];
  }
  if (next < by.size()) {
    for (std::size_t n = 0; n < count; ++n) product[n] *= by[next][n];
  }
}

/// `read(number)` is where the values of a companion are.
template <class Numbers, class Read>
void add_products(const std::vector<RelationTerm>& terms, std::size_t count, Read&& read, Numbers& out) {
  Numbers product;
  for (const RelationTerm& term : terms) {
    std::vector<const double*> times;
    for (const int number : term.times) times.push_back(read(number));
    if (times.size() == 2 && term.over.empty()) {
      for (std::size_t n = 0; n < count; ++n) out[n] += term.coefficient * times[0][n] * times[1][n];
      continue;
    }
    if (times.size() == 3 && term.over.empty()) {
      for (std::size_t n = 0; n < count; ++n) out[n] += term.coefficient * times[0][n] * times[1][n] * times[2][n];
      continue;
    }
    std::fill_n(product.begin(), count, term.coefficient);
    multiply(product, times, count);
    for (const int number : term.over) {
      const double* by = read(number);
      for (std::size_t n = 0; n < count; ++n) product[n] /= by[n];
    }
    for (std::size_t n = 0; n < count; ++n) out[n] += product[n];
  }
}

}  // namespace

void Predictor::add_terms(const std::vector<RelationTerm>& terms, Cells& out) const {
  add_products(
      terms, count_ * sons_, [this](int number) { return cells_of(number); }, out);
}

void Predictor::add_father_terms(const std::vector<RelationTerm>& terms, Row& out) const {
  if (terms.empty()) return;
  std::vector<Row> rows(near_.size());
  std::uint32_t here = 0;
  const auto read = [&](int number) {
    Row& row = rows[static_cast<std::size_t>(number)];
    if ((here >> number & 1) == 0) read_father_cells(number, row);
    here |= std::uint32_t{1} << number;
    return row.data();
  };
  add_products(terms, count_, read, out);
}

void Predictor::by_closure(std::size_t son) {
  pick(offset_.data(), son, predicted_);
  from_.fill(Source::closure);
}

void Predictor::find_across(std::size_t son, std::array<Index, tile_groups>& cells) const noexcept {
  const FaceRelation& face = *relations_.face;
  const auto axis = static_cast<std::size_t>(face.axis), faces = 2 * dimensions_;
  const auto across = static_cast<Index>(son ^ (std::size_t{1} << axis));
  const Index* beside = chunk_.groups.beside.data() + first_ * faces + 2 * axis + (face.high ? 1 : 0);
  for (std::size_t g = 0; g < count_; ++g) {
    const Index group = finder_.find(beside[g * faces]);
    cells[g] = group < 0 ? -1 : group * static_cast<Index>(sons_) + across;
  }
}

// The face is also that of the cell beside it, in the group or in that of what is beside the father.
void Predictor::by_shared(std::size_t son) {
  const FaceRelation& face = *relations_.face;
  const auto axis = static_cast<std::size_t>(face.axis);
  const Companion& opposite = chunk_.companions[static_cast<std::size_t>(face.opposite)];
  const bool inner = ((son >> axis & 1) != 0) != face.high;
  if (inner) {
    pick(cells_of(face.opposite), son ^ (std::size_t{1} << axis), predicted_);
    from_.fill(Source::shared);
    uniform_ = true;
    return;
  }
  if (!plan_.across) return;
  std::array<Index, tile_groups> cells;
  find_across(son, cells);
  Row there;
  read_beside(opposite.type, opposite.values, cells.data(), 1, count_, there.data());
  for (std::size_t g = 0; g < count_; ++g) {
    predicted_[g] = cells[g] < 0 ? predicted_[g] : there[g];
    from_[g] = cells[g] < 0 ? from_[g] : Source::shared;
  }
  uniform_ = false;
}

// Length along the axis times the sum over the others of (high face - low face) / length.
void Predictor::read_flow() {
  const FaceRelation& face = *relations_.face;
  flow_.fill(0);
  std::size_t next = 0;
  for (std::size_t a = 0; a < dimensions_; ++a) {
    if (a == static_cast<std::size_t>(face.axis)) continue;
    const double* low = cells_of(face.others[next++]);
    const double* high = cells_of(face.others[next++]);
    const double ratio = face.lengths.empty() ? 1 : face.lengths[static_cast<std::size_t>(face.axis)] / face.lengths[a];
    for (std::size_t n = 0; n < count_ * sons_; ++n) flow_[n] += ratio * (high[n] - low[n]);
  }
}

// From the face at the other end of the same cell; or, where that is not known but a sibling's is, through the sibling.
void Predictor::by_divergence(std::size_t step) {
  const FaceRelation& face = *relations_.face;
  const std::size_t son = order_[step], across = son ^ (std::size_t{1} << face.axis);
  Row known, flow;
  if (face.opposite >= 0) {
    pick(cells_of(face.opposite), son, known);
    pick(flow_.data(), son, flow);
  } else if (step >= members_) {
    known = values_[across];
    pick(flow_.data(), across, flow);
  } else {
    if (plan_.across) by_neighbour(son);
    return;
  }
  // Out of a low face follows the high one by subtraction; what is known is low if a high face is wanted of the same
  // cell, and if a low one is wanted whose cell's lower sibling is known.
  const bool upwards = face.high == (face.opposite >= 0);
  for (std::size_t g = 0; g < count_; ++g) predicted_[g] = upwards ? known[g] - flow[g] : known[g] + flow[g];
  from_.fill(Source::divergence);
}

// Through the cell beside it in another group, whose other face is known.
void Predictor::by_neighbour(std::size_t son) {
  const FaceRelation& face = *relations_.face;
  std::array<Index, tile_groups> cells;
  find_across(son, cells);
  const auto behind = static_cast<Index>(first_ * sons_);
  for (std::size_t g = 0; g < count_; ++g) {
    if (!all_known_ && cells[g] >= behind) cells[g] = -1;
  }
  Row known, flow, low, high;
  read_beside(chunk_.type, own_, cells.data(), 1, count_, known.data());
  flow.fill(0);
  std::size_t next = 0;
  for (std::size_t a = 0; a < dimensions_; ++a) {
    if (a == static_cast<std::size_t>(face.axis)) continue;
    for (Row* row : {&low, &high}) {
      const Companion& from = chunk_.companions[static_cast<std::size_t>(face.others[next++])];
      read_beside(from.type, from.values, cells.data(), 1, count_, row->data());
    }
    const double ratio = face.lengths.empty() ? 1 : face.lengths[static_cast<std::size_t>(face.axis)] / face.lengths[a];
    for (std::size_t g = 0; g < count_; ++g) flow[g] += ratio * (high[g] - low[g]);
  }
  for (std::size_t g = 0; g < count_; ++g) {
    if (cells[g] < 0) continue;
    predicted_[g] = face.high ? known[g] + flow[g] : known[g] - flow[g];
    from_[g] = Source::divergence;
  }
  uniform_ = false;
}

}  // namespace sidestream::trees
