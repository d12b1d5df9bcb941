// Plans of predictions: their bits, the plans that are tried first, and the companions that a plan reads.
#include "amr_codec/values/prediction.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::trees {

namespace {

std::uint32_t bit(int companion) noexcept { return companion < 0 ? 0 : std::uint32_t{1} << companion; }

std::uint32_t bits_of(const std::vector<RelationTerm>& terms) noexcept {
  std::uint32_t bits = 0;
  for (const RelationTerm& term : terms) {
    for (const int number : term.times) bits |= bit(number);
    for (const int number : term.over) bits |= bit(number);
  }
  return bits;
}

}  // namespace

std::uint16_t PredictionPlan::bits() const noexcept {
  const unsigned kinds = static_cast<unsigned>(slope) | static_cast<unsigned>(last) << 2;
  const unsigned flags = unsigned{shared} | unsigned{divergence} << 1 | unsigned{closure} << 2 | unsigned{across} << 3 |
                         unsigned{faces} << 4 | unsigned{factor} << 5 | unsigned{corrected} << 7;
  return static_cast<std::uint16_t>(kinds | flags << 4);
}

PredictionPlan PredictionPlan::of(std::uint16_t bits) {
  const auto flag = [bits](int number) { return (bits >> (4 + number) & 1) != 0; };
  PredictionPlan plan;
  plan.slope = static_cast<Slope>(bits & 3);
  plan.last = static_cast<Last>(bits >> 2 & 3);
  plan.shared = flag(0);
  plan.divergence = flag(1);
  plan.closure = flag(2);
  plan.across = flag(3);
  plan.faces = flag(4);
  plan.factor = flag(5);
  plan.corrected = flag(7);
  const bool whole =
      ((!plan.shared && !plan.divergence) || plan.faces) && (!plan.corrected || (!plan.faces && !plan.closure));
  if (plan.slope > Slope::limited || plan.last > Last::declared || bits >> 12 != 0 || flag(6) || !whole ||
      (plan.across && !plan.shared && !plan.divergence)) {
    fail(Code::file, "a stream of a tree's values is predicted in the unknown way {}; it is damaged", bits);
  }
  return plan;
}

PredictionPlan plain_plan(const TreeChunk& chunk) {
  PredictionPlan plan;
  plan.slope = chunk.groups.beside.empty() ? Slope::none : Slope::central;
  plan.last = Last::plain;
  return plan;
}

PredictionPlan full_plan(const TreeChunk& chunk, const Relations& relations) {
  PredictionPlan plan = plain_plan(chunk);
  plan.factor = relations.factor != 1;
  plan.closure = !relations.closure.empty();
  plan.faces = relations.face.has_value();
  if (relations.mean && !plan.faces) plan.last = Last::declared;
  plan.shared = plan.faces && relations.face->opposite >= 0;
  plan.divergence = plan.faces && !relations.face->others.empty();
  plan.across = (plan.shared || plan.divergence) && !chunk.groups.beside.empty();
  return plan;
}

void check_plan(const PredictionPlan& plan, const Relations& relations) {
  const bool mean = plan.last == Last::declared && (!relations.mean || plan.faces);
  const bool shared = plan.shared && !(relations.face && relations.face->opposite >= 0);
  const bool divergence = plan.divergence && !(relations.face && !relations.face->others.empty());
  const bool closure = plan.closure && relations.closure.empty();
  const bool faces = plan.faces && !relations.face;
  if (mean || shared || divergence || closure || faces) {
    fail(Code::file,
         "a stream of a tree's values was made with relations that are not declared of its variable; it is damaged, or "
         "the schema is another one's");
  }
}

std::uint32_t companions_of(const PredictionPlan& plan, const Relations& relations) {
  std::uint32_t bits = 0;
  if (plan.closure) return bits_of(relations.closure);
  if (plan.last == Last::declared && relations.mean) {
    bits |= bit(relations.mean->weight) | bits_of(relations.mean->offset);
  }
  if (plan.faces && relations.face) {
    if (plan.shared || plan.divergence) bits |= bit(relations.face->opposite);
    if (plan.divergence) {
      for (const int number : relations.face->others) bits |= bit(number);
    }
  }
  return bits;
}

bool needs_beside(const PredictionPlan& plan) noexcept {
  return !plan.closure && (plan.slope != Slope::none || plan.across);
}

}  // namespace sidestream::trees
