#include "storage/trees/arrangement.hpp"

#include <algorithm>
#include <cstring>

#include "storage/trees/flows.hpp"

namespace sidestream::trees {

bool chained(const PredictionPlan& plan, const Relations& relations) noexcept {
  return plan.divergence && plan.across && relations.face->opposite < 0;
}

Arrangement::Arrangement(const TreeChunk& chunk, const Relations& relations) : sons_(sons_of(chunk)), chunk_(chunk) {
  const FaceRelation& face = *relations.face;
  order(chunk.groups, 2 * static_cast<std::size_t>(face.axis) + (face.high ? 1 : 0), !face.high);
  const std::size_t faces = 2 * static_cast<std::size_t>(chunk.groups.dimensions);
  for (const std::size_t group : sequence_) {
    father_.push_back(chunk.groups.father[group]);
    const Index* beside = chunk.groups.beside.data() + group * faces;
    beside_.insert(beside_.end(), beside, beside + faces);
  }
  chunk_.groups.father = father_;
  chunk_.groups.beside = beside_;
  const std::vector<double> flows = flows_of(chunk, relations);
  flows_.resize(flows.size());
  for (std::size_t n = 0; n < sequence_.size(); ++n) {
    std::copy_n(flows.begin() + static_cast<std::ptrdiff_t>(sequence_[n] * sons_), sons_,
                flows_.begin() + static_cast<std::ptrdiff_t>(n * sons_));
  }
}

// In a tree's order a neighbour that lies lower comes earlier: one pass finds how long a chain of neighbours is.
void Arrangement::order(const SiblingGroups& groups, std::size_t side, bool upwards) {
  const GroupFinder finder(groups);
  const std::size_t count = groups.father.size(), faces = 2 * static_cast<std::size_t>(groups.dimensions);
  std::vector<std::size_t> wave(count, 0);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t group = upwards ? n : count - 1 - n;
    const Index neighbour = finder.find(groups.beside[group * faces + side]);
    if (neighbour < 0) continue;
    const auto other = static_cast<std::size_t>(neighbour);
    if (upwards ? other < group : other > group) wave[group] = wave[other] + 1;
  }
  sequence_.resize(count);
  ends_.assign(count == 0 ? 0 : *std::max_element(wave.begin(), wave.end()) + 1, 0);
  for (const std::size_t one : wave) ++ends_[one];
  for (std::size_t n = 1; n < ends_.size(); ++n) ends_[n] += ends_[n - 1];
  std::vector<std::size_t> next(ends_.size(), 0);
  for (std::size_t n = 1; n < ends_.size(); ++n) next[n] = ends_[n - 1];
  for (std::size_t group = 0; group < count; ++group) sequence_[next[wave[group]]++] = group;
}

Bytes Arrangement::arranged(BytesView values, std::size_t size) const {
  const std::size_t run = size * sons_;
  Bytes out(values.size());
  for (std::size_t n = 0; n < sequence_.size(); ++n)
    std::memcpy(out.data() + n * run, values.data() + sequence_[n] * run, run);
  return out;
}

void Arrangement::restore(BytesView arranged, std::size_t size, std::span<std::byte> values) const {
  const std::size_t run = size * sons_;
  for (std::size_t n = 0; n < sequence_.size(); ++n) {
    std::memcpy(values.data() + sequence_[n] * run, arranged.data() + n * run, run);
  }
}

}  // namespace sidestream::trees
