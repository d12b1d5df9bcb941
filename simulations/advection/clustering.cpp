#include "clustering.hpp"

#include <cstdlib>
#include <optional>

namespace advection {

namespace {

using Signature = std::array<std::vector<std::int64_t>, 3>;  // number of marks at each index of each axis

struct Cut {
  std::size_t axis;
  Index at;  // first index of the upper part
};

class Clusterer {
 public:
  Clusterer(const Marks& marks, double efficiency, Index largest)
      : marks_(marks), efficiency_(efficiency), largest_(largest) {}

  void take(const Box& region) {
    Signature signature = signature_of(region);
    const std::optional<Box> shrunk = shrink(region, signature);
    if (!shrunk) return;
    const double share = static_cast<double>(total_) / static_cast<double>(shrunk->count());
    std::optional<Cut> cut;
    if (share < efficiency_) cut = best_cut(*shrunk, signature, region);
    if (!cut) {
      for (const Box& part : divided(*shrunk, largest_)) boxes.push_back(part);
      return;
    }
    Box low = *shrunk, high = *shrunk;
    low.hi[cut->axis] = high.lo[cut->axis] = cut->at;
    take(low);
    take(high);
  }

  std::vector<Box> boxes;

 private:
  [[nodiscard]] Signature signature_of(const Box& region) {
    Signature signature;
    for (std::size_t a = 0; a < 3; ++a) signature[a].assign(static_cast<std::size_t>(region.size(a)), 0);
    total_ = 0;
    for_each(region, [&](Index i, Index j, Index k) {
      if (!marks_.at(i, j, k)) return;
      ++total_;
      const Index3 at{i, j, k};
      for (std::size_t a = 0; a < 3; ++a) ++signature[a][static_cast<std::size_t>(at[a] - region.lo[a])];
    });
    return signature;
  }

  [[nodiscard]] static std::optional<Box> shrink(const Box& region, const Signature& signature) {
    Box box = region;
    for (std::size_t a = 0; a < 3; ++a) {
      const auto count = [&](Index n) { return signature[a][static_cast<std::size_t>(n - region.lo[a])]; };
      while (box.lo[a] < box.hi[a] && count(box.lo[a]) == 0) ++box.lo[a];
      while (box.lo[a] < box.hi[a] && count(box.hi[a] - 1) == 0) --box.hi[a];
    }
    return box.empty() ? std::nullopt : std::optional(box);
  }

  // The best cut: at a gap, or where the second difference of the signature changes its sign most, or in the middle of
  // the longest axis. None if nothing is left to cut.
  [[nodiscard]] static std::optional<Cut> best_cut(const Box& box, const Signature& signature, const Box& region) {
    std::size_t longest = 0;
    for (std::size_t a = 1; a < 3; ++a) {
      if (box.size(a) > box.size(longest)) longest = a;
    }
    if (box.size(longest) < 2) return std::nullopt;
    std::optional<Cut> turn;
    std::int64_t most = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const auto count = [&](Index n) { return signature[a][static_cast<std::size_t>(n - region.lo[a])]; };
      const auto bend = [&](Index n) { return count(n - 1) - 2 * count(n) + count(n + 1); };
      for (Index n = box.lo[a] + 1; n + 1 < box.hi[a]; ++n) {
        if (count(n) == 0) return Cut{a, n};
        if (n + 2 >= box.hi[a]) continue;
        const std::int64_t here = bend(n), next = bend(n + 1);
        if (here * next < 0 && std::abs(here - next) > most) {
          most = std::abs(here - next);
          turn = Cut{a, n + 1};
        }
      }
    }
    return turn ? turn : Cut{longest, box.lo[longest] + box.size(longest) / 2};
  }

  const Marks& marks_;
  double efficiency_;
  Index largest_;
  std::int64_t total_ = 0;
};

}  // namespace

std::vector<Box> divided(const Box& box, Index largest) {
  std::array<std::vector<Index>, 3> ends;
  for (std::size_t a = 0; a < 3; ++a) {
    const Index parts = (box.size(a) + largest - 1) / largest;
    for (Index p = 0; p <= parts; ++p) {
      ends[a].push_back(box.lo[a] + static_cast<Index>(std::int64_t{box.size(a)} * p / parts));
    }
  }
  std::vector<Box> all;
  for (std::size_t k = 0; k + 1 < ends[2].size(); ++k) {
    for (std::size_t j = 0; j + 1 < ends[1].size(); ++j) {
      for (std::size_t i = 0; i + 1 < ends[0].size(); ++i) {
        all.push_back({{ends[0][i], ends[1][j], ends[2][k]}, {ends[0][i + 1], ends[1][j + 1], ends[2][k + 1]}});
      }
    }
  }
  return all;
}

std::vector<Box> cluster(const Marks& marks, double efficiency, Index largest) {
  Clusterer clusterer(marks, efficiency, largest);
  if (marks.box().count() > 0) clusterer.take(marks.box());
  return std::move(clusterer.boxes);
}

}  // namespace advection
