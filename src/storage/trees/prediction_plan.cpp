#include "base/fail.hpp"
#include "storage/trees/prediction.hpp"

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

PredictionPlan PredictionPlan::of(std::uint8_t byte) {
  PredictionPlan plan;
  plan.slope = static_cast<Slope>(byte & 3);
  plan.last = static_cast<Last>(byte >> 2 & 3);
  plan.shared = (byte >> 4 & 1) != 0;
  plan.divergence = (byte >> 5 & 1) != 0;
  plan.closure = (byte >> 6 & 1) != 0;
  plan.across = (byte >> 7 & 1) != 0;
  if (plan.slope > Slope::limited || plan.last > Last::declared || (plan.across && !plan.shared && !plan.divergence)) {
    fail(Code::file, "a stream of a tree's values is predicted in the unknown way {}; it is damaged", byte);
  }
  return plan;
}

PredictionPlan full_plan(const TreeChunk& chunk, const Relations& relations) {
  PredictionPlan plan;
  plan.slope = chunk.groups.beside.empty() ? Slope::none : Slope::central;
  plan.last = relations.mean && !relations.face ? Last::declared : Last::plain;
  plan.shared = relations.face && relations.face->opposite >= 0;
  plan.divergence = relations.face && !relations.face->others.empty();
  plan.across = (plan.shared || plan.divergence) && !chunk.groups.beside.empty();
  plan.closure = !relations.closure.empty();
  return plan;
}

void check_plan(const PredictionPlan& plan, const Relations& relations) {
  const bool mean = plan.last == Last::declared && !(relations.mean && !relations.face);
  const bool shared = plan.shared && !(relations.face && relations.face->opposite >= 0);
  const bool divergence = plan.divergence && !(relations.face && !relations.face->others.empty());
  const bool closure = plan.closure && relations.closure.empty();
  if (mean || shared || divergence || closure) {
    fail(Code::file,
         "a stream of a tree's values was made with relations that are not declared of its variable; it is damaged, or "
         "the schema is another one's");
  }
}

std::uint32_t companions_of(const PredictionPlan& plan, const Relations& relations) {
  std::uint32_t bits = 0;
  if (plan.closure) return bits_of(relations.closure);
  if (plan.last == Last::declared && relations.mean && !relations.face) {
    bits |= bit(relations.mean->weight) | bits_of(relations.mean->offset);
  }
  if (relations.face) {
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
