// Predictions from companions: declared means, closures, shared faces, divergence.
//
// The terms of a declared mean or closure are products of companions, summed in a fixed order in runs of 256 cells that
// stay in the first-level cache.
//
// A face between two cells has one value, which may be stored twice, as the high face of one cell and the low face of
// the other. With the companion on the opposite face (shared) every inner face of the chunk is known.
//
// In a divergence-free field the low and high face of a cell differ by the flux through its other faces (constrained
// transport; Evans and Hawley 1988). If those are companions, a face follows from the opposite one: in the same cell,
// if that is a companion, or else in the cell across the face, which must be decoded before (group_order.hpp).
#include <algorithm>

#include "amr_codec/values/elements.hpp"
#include "amr_codec/values/group_order.hpp"
#include "amr_codec/values/prediction.hpp"
#include "amr_codec/values/prediction_loops.hpp"

namespace sidestream::trees {

using namespace prediction_loops;

namespace {

/// Prefetches the first cache lines of each page of these bytes, because hardware only prefetches within a page.
void fetch_pages(BytesView bytes, std::size_t first, std::size_t count) noexcept {
  constexpr std::size_t page = 4096, line = 64, lines = 4;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::size_t end = std::min(bytes.size(), first + count);
  for (std::size_t at = first + (0 - (begin + first)) % page; at < end; at += page) {
    const std::size_t most = std::min(end, at + lines * line);
    for (std::size_t one = at; one < most; one += line) __builtin_prefetch(bytes.data() + one);
  }
}

}  // namespace

void Predictor::read_companions() {
  std::size_t next = 0;
  for (std::size_t n = 0; n < near_.size(); ++n) {
    if ((needed_ >> n & 1) == 0) continue;
    const Companion& from = chunk_.companions[n];
    near_[n] = read_run(from.type, from.values, first_ * children_, count_ * children_, copies_[next++].data());
    fetch_pages(from.values, (first_ + count_) * children_ * size_of(from.type),
                count_ * children_ * size_of(from.type));
  }
}

void Predictor::read_parent_cells(int companion, Row& out) const {
  const Companion& from = chunk_.companions[static_cast<std::size_t>(companion)];
  read_elements(from.type, from.parents, parent_at_.data(), count_, out.data());
}

namespace {

/// Adds all terms to `out`. `read(number)` returns a companion's values; `product` is work space.
template <class Read>
void add_all_terms(const std::vector<RelationTerm>& terms, std::size_t count, Read&& read, double* product,
                   double* out) {
  std::array<Product, 16> together;
  std::size_t held = 0;
  const auto add_held = [&] {
    if (held > 0) add_products(together.data(), held, count, out);
    held = 0;
  };
  for (const RelationTerm& term : terms) {
    const std::vector<int>& times = term.times;
    if (term.over.empty() && (times.size() == 2 || times.size() == 3)) {
      together[held++] = {term.coefficient, read(times[0]), read(times[1]),
                          times.size() == 3 ? read(times[2]) : nullptr};
      if (held == together.size()) add_held();
      continue;
    }
    add_held();
    std::fill_n(product, count, term.coefficient);
    for (const int number : times) multiply(read(number), count, product);
    for (const int number : term.over) divide(read(number), count, product);
    for (std::size_t n = 0; n < count; ++n) out[n] += product[n];
  }
  add_held();
}

}  // namespace

// Runs are short enough to stay in the cache for all terms.
void Predictor::add_terms(const std::vector<RelationTerm>& terms, Cells& out) const {
  constexpr std::size_t run = 256;
  std::array<double, run> product;
  for (std::size_t first = 0; first < count_ * children_; first += run) {
    const std::size_t count = std::min(run, count_ * children_ - first);
    add_all_terms(
        terms, count, [&](int number) { return cells_of(number) + first; }, product.data(), out.data() + first);
  }
}

void Predictor::add_parent_terms(const std::vector<RelationTerm>& terms, Row& out) {
  std::uint32_t here = 0;
  const auto read = [&](int number) {
    const std::uint32_t bit = std::uint32_t{1} << number;
    Row& row = parent_rows_[static_cast<std::size_t>(std::popcount(needed_ & (bit - 1)))];
    if ((here & bit) == 0) read_parent_cells(number, row);
    here |= bit;
    return row.data();
  };
  Row product;
  add_all_terms(terms, count_, read, product.data(), out.data());
}

void Predictor::by_closure(std::size_t child) {
  std::copy_n(offset_[child].begin(), count_, predicted_.begin());
  from_.fill(Source::closure);
}

void Predictor::find_across() {
  const FaceRelation& face = *relations_.face;
  if (group_order_ != nullptr) {
    group_order_->find_across(groups(), count_, across_.data());
  } else {
    const std::size_t sides = 2 * dimensions_;
    const Index* beside = chunk_.groups.beside.data() + first_ * sides + 2 * static_cast<std::size_t>(face.axis);
    if (face.high) ++beside;
    for (std::size_t g = 0; g < count_; ++g) across_[g] = finder_->find(beside[g * sides]);
    // The decoder knows the variable itself only in earlier tiles.
    const bool any = plan_.shared || all_known_;
    for (std::size_t g = 0; !any && g < count_; ++g)
      across_[g] = across_[g] < static_cast<Index>(first_) ? across_[g] : -1;
  }
  Index some = 0, all = -1;
  for (std::size_t g = 0; g < count_; ++g) {
    some |= across_[g];
    all &= across_[g];
  }
  all_across_ = some >= 0;
  none_across_ = all < 0;
}

void Predictor::cells_across(std::size_t child, std::array<Index, tile_groups>& cells) const noexcept {
  const auto other = static_cast<Index>(child ^ (std::size_t{1} << relations_.face->axis));
  const auto children = static_cast<Index>(children_);
  for (std::size_t g = 0; g < count_; ++g) cells[g] = (across_[g] * children + other) | across_[g] >> 63;
}

void Predictor::take_across(Source source, const Row& other) noexcept {
  if (none_across_) return;
  if (all_across_) {
    std::copy_n(other.begin(), count_, predicted_.begin());
    from_.fill(source);
    return;
  }
  for (std::size_t g = 0; g < count_; ++g) {
    predicted_[g] = across_[g] < 0 ? predicted_[g] : other[g];
    from_[g] = across_[g] < 0 ? from_[g] : source;
  }
  uniform_ = false;
}

// The face is also the opposite face of the neighbouring cell, in this group or in the neighbouring one.
void Predictor::by_shared(std::size_t child) {
  const FaceRelation& face = *relations_.face;
  const auto axis = static_cast<std::size_t>(face.axis);
  const Companion& opposite = chunk_.companions[static_cast<std::size_t>(face.opposite)];
  const std::size_t other = child ^ (std::size_t{1} << axis);
  const bool inner = ((child >> axis & 1) != 0) != face.high;
  if (inner) {
    const double* const cells = cells_of(face.opposite) + other;
    for (std::size_t g = 0; g < count_; ++g) predicted_[g] = cells[g * children_];
    from_.fill(Source::shared);
    uniform_ = true;
    return;
  }
  if (!plan_.across) return;
  std::array<Index, tile_groups> cells;
  cells_across(child, cells);
  Row there;
  read_beside(opposite.type, opposite.values, cells.data(), count_, there.data());
  take_across(Source::shared, there);
}

// The prediction comes from the opposite face of the same cell, or through the sibling whose own face is known.
void Predictor::by_divergence(std::size_t step) {
  const FaceRelation& face = *relations_.face;
  const std::size_t child = order_[step], other = child ^ (std::size_t{1} << face.axis);
  Row opposite;
  const double *known = values_[other].data(), *flux = flux_[other].data();
  if (face.opposite >= 0) {
    const double* const cells = cells_of(face.opposite) + child;
    for (std::size_t g = 0; g < count_; ++g) opposite[g] = cells[g * children_];
    known = opposite.data();
    flux = flux_[child].data();
  } else if (step < members_) {
    if (plan_.across) by_neighbour(child);
    return;
  }
  // The high face is the low one minus the flux. The known face is the low one in two cases: a high face of the same
  // cell is predicted, or a low face of a cell whose lower sibling is known.
  const bool upwards = face.high == (face.opposite >= 0);
  (upwards ? subtract : add)(known, flux, count_, predicted_.data());
  from_.fill(Source::divergence);
}

// The prediction goes through the neighbouring cell in another group, whose own face is known.
void Predictor::by_neighbour(std::size_t child) {
  std::array<Index, tile_groups> cells;
  cells_across(child, cells);
  Row values, flux, through;
  read_beside(chunk_.type, own_, cells.data(), count_, values.data());
  if (!fluxes_.empty()) {
    read_beside(fluxes_.data(), cells.data(), count_, flux.data());
  } else {
    for (std::size_t g = 0; g < count_; ++g) {
      read_face_fluxes(chunk_, relations_, static_cast<std::size_t>(std::max<Index>(cells[g], 0)), 1, &flux[g]);
    }
  }
  (relations_.face->high ? add : subtract)(values.data(), flux.data(), count_, through.data());
  take_across(Source::divergence, through);
}

}  // namespace sidestream::trees
