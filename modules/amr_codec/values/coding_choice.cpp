// Chooses candidates for the coding of a chunk by trials on samples.
//
//   1. Quiet values: if zstd leaves little of a sample, and no prediction leaves much less, zstd is the only candidate,
//      since it is several times faster than each trial on the whole chunk.
//   2. Prediction (float types with parents): all trials use the same few hundred groups from all over the chunk
//      (PredictionSample), and compare entropies of lengths. The search begins with all declared relations and removes
//      one part after another if that helps (a greedy descent), then does the same without relations. The winner is
//      compared with its version that is corrected by fitted weights.
//   3. zstd on a sample of the bytes, unchanged and shuffled; also on the residuals, if these may repeat themselves.
//   4. parent_xor on 256 groups in the middle: its size can be counted exactly.
//
// Every method whose estimate is within the error of the best one is a candidate. value_coder.cpp codes the chunk with
// each candidate and keeps the smallest stream. All thresholds were measured (benchmarks/tree-codec.md). Decoders do
// not depend on them.
#include "amr_codec/values/coding_choice.hpp"

#include <algorithm>
#include <map>

#include "amr_codec/values/packer.hpp"
#include "amr_codec/values/parent_xor.hpp"
#include "amr_codec/values/stream_parts.hpp"

namespace sidestream::trees {

namespace {

constexpr std::size_t sample_bytes = 2048, samples = 8;
/// The additional savings that zstd may reach on the whole chunk at a higher level, compared with a sample, because
/// repetitions may be far apart.
constexpr double more_repetitions = 0.4, many_more_repetitions = 0.8;

/// Values are quiet if zstd leaves at most this share. A prediction pays if it leaves less than `predicted_part` of
/// that, and saves at least `least_gain` more of the whole.
constexpr double quiet_share = 0.35, predicted_part = 0.75, least_gain = 0.03;
/// Shuffled values take twice the time.
constexpr double clearly_less = 1.02, least_shuffled_gain = 0.002;
/// A longer search pays if a sample takes less than this part, apart from some bytes.
constexpr double paying = 0.85;
constexpr std::size_t few_bytes = 64;

/// A glance at a few bytes comes first. If zstd saves little there and the prediction saves much, nothing else is
/// tried.
constexpr std::size_t glance_bytes = 512;
constexpr double more_than_seen = 1.2;
/// Residuals that take less than this share are also tried through zstd, whatever zstd saves on the values.
constexpr double repeated_differences = 0.4;

/// Relative errors of estimates from samples. They are larger for repetitive values, which shrink most.
constexpr double close_call = 1.04, repetitive = 0.64, close_if_repetitive = 1.5;

/// Corrections must save this many bits per value, because they take a tenth of the time.
constexpr double least_correction = 0.2;

bool has_parents(const TreeChunk& chunk) { return !chunk.groups.parent.empty() && !chunk.parents.empty(); }

Bytes sample_of(BytesView values, std::size_t bytes) {
  if (values.size() <= 2 * samples * bytes) return Bytes(values.begin(), values.end());
  Bytes sample;
  const std::size_t apart = (values.size() - bytes) / (samples - 1) / 8 * 8;
  for (std::size_t n = 0; n < samples; ++n) {
    const BytesView part = values.subspan(n * apart, bytes);
    sample.insert(sample.end(), part.begin(), part.end());
  }
  return sample;
}

double packed_share(const Bytes& bytes, Packer& packer) {
  Bytes out;
  packer.pack({as_bytes(bytes), bytes.size()}, 1, out);
  return static_cast<double>(out.size()) / static_cast<double>(std::max<std::size_t>(bytes.size(), 1));
}

struct TriedPlan {
  PredictionPlan plan;
  double bits = 0;
};

/// Removes from a plan each part that does not help.
class PlanSearch {
 public:
  explicit PlanSearch(const PredictionSample& sample) : sample_(sample) {}

  [[nodiscard]] TriedPlan from(const PredictionPlan& plan) {
    best_ = {plan, bits(plan)};
    without([](PredictionPlan& one) { one.closure = false; }, plan.closure);
    if (best_.plan.closure) return best_;
    without([](PredictionPlan& one) { one.shared = false, one.across = one.across && one.divergence; }, plan.shared);
    without([](PredictionPlan& one) { one.divergence = false, one.across = one.across && one.shared; },
            plan.divergence);
    // A plain mean is taken even if it is only as good, because the plan without any mean is only tried from there.
    without([](PredictionPlan& one) { one.last = Last::plain; }, plan.last == Last::declared, true);
    without([](PredictionPlan& one) { one.last = Last::slope; }, best_.plan.last == Last::plain);
    without([](PredictionPlan& one) { one.slope = Slope::limited; }, plan.slope == Slope::central);
    without([](PredictionPlan& one) { one.slope = Slope::none; }, plan.slope != Slope::none);
    return best_;
  }
  /// Bits per value under a plan. Each plan is tried once.
  [[nodiscard]] double bits(const PredictionPlan& plan) {
    const auto known = tried_.find(plan.bits());
    return known != tried_.end() ? known->second : tried_[plan.bits()] = sample_.bits(plan);
  }

 private:
  /// Takes the changed plan if it is better or, with `or_same`, if it is as good.
  template <class Change>
  void without(Change&& change, bool there, bool or_same = false) {
    if (!there) return;
    TriedPlan other{best_.plan};
    change(other.plan);
    other.bits = bits(other.plan);
    if (other.bits < best_.bits || (or_same && other.bits <= best_.bits)) best_ = other;
  }

  const PredictionSample& sample_;
  TriedPlan best_{};
  std::map<std::uint16_t, double> tried_;
};

// False if the chunk lacks companions, so that relations cannot be used.
bool companions_here(const PredictionPlan& plan, const TreeChunk& chunk, const Relations& relations) {
  const std::uint32_t needed = companions_of(plan, relations);
  for (std::size_t n = 0; n < 32; ++n) {
    if ((needed >> n & 1) == 0) continue;
    if (n >= chunk.companions.size() || chunk.companions[n].values.empty()) return false;
  }
  return true;
}

TriedPlan best_plan(const PredictionSample& sample, const TreeChunk& chunk, const Relations& relations) {
  PlanSearch search(sample);
  const PredictionPlan full = full_plan(chunk, relations), plain = plain_plan(chunk);
  const bool here = companions_here(full, chunk, relations);
  // The plain plan tries the mean of the children anyway.
  const bool more = here && (full.closure || full.faces || full.factor || companions_of(full, relations) != 0);
  TriedPlan best = search.from(here ? full : plain);
  if (!more) return best;
  // A relation is taken to hold if it saves one bit per value.
  if (best.bits + 1 < search.bits(plain)) return best;
  TriedPlan other = search.from(plain);
  return other.bits < best.bits ? std::move(other) : std::move(best);
}

bool possible(TreeMethod method, const TreeChunk& chunk) {
  switch (method) {
    case TreeMethod::parent_xor:
      return has_parents(chunk) && in_words(chunk.type);
    case TreeMethod::predicted:
    case TreeMethod::predicted_zstd:
      return has_parents(chunk) && predictable(chunk.type);
    case TreeMethod::constant:
      return false;
    default:
      return true;
  }
}

double xor_share(BytesView values, const TreeChunk& chunk, int header_bits) {
  const std::size_t groups = chunk.groups.parent.size(), run = std::min<std::size_t>(groups, 256);
  const std::size_t middle = (groups - run) / 2;
  const double bits = parent_xor_bits(values, chunk, header_bits, middle, middle + run);
  return bits / static_cast<double>(8 * size_of(chunk.type));
}

/// The shares of the size that zstd leaves, for unchanged and for shuffled values.
struct PackedShares {
  double plain = 1, shuffled = 1;
  [[nodiscard]] double least() const noexcept { return std::min(plain, shuffled); }
};

PackedShares packed_shares(BytesView values, std::size_t size, std::size_t bytes, Packer& packer) {
  const Bytes sample = sample_of(values, bytes);
  Bytes shuffled;
  shuffle(sample, size, shuffled);
  return {packed_share(sample, packer), packed_share(shuffled, packer)};
}

/// True if zstd need not be tried, because a prediction leaves only `share` of the size.
bool is_decided_by_sample(double share, BytesView values, std::size_t size, Packer& packer) {
  if (values.size() <= 2 * samples * sample_bytes || share > 0.9) return false;
  const double least = packed_shares(values, size, glance_bytes, packer).least();
  return least - more_than_seen * (1 - least) > share;
}

/// Adds the predicting methods. Returns true if a method without prediction may be as small.
bool add_predicted(BytesView values, const TreeChunk& chunk, const Relations& relations, bool is_given, Packer& packer,
                   CodingChoice& choice) {
  PredictionSample sample(values, chunk, relations);
  TriedPlan best = best_plan(sample, chunk, relations);
  TriedPlan corrected = best;
  if (sample.fit_corrections(corrected.plan)) {
    corrected.bits = sample.bits(corrected.plan);
    if (corrected.bits + least_correction < best.bits) best = corrected;
  }
  choice.plan = best.plan;
  const double bits = static_cast<double>(8 * size_of(chunk.type));
  choice.candidates.push_back({TreeMethod::predicted, best.bits / bits});
  if (best.plan.corrected) choice.slopes = sample.take_slopes();
  if (is_given) return false;
  const double share = best.bits / bits;
  const bool others = !is_decided_by_sample(share, values, size_of(chunk.type), packer);
  if (others || share < repeated_differences) {
    choice.candidates.push_back({TreeMethod::predicted_zstd, packed_share(sample.differences(best.plan), packer)});
  }
  return others;
}

/// The least share that predictions with and without relations, with and without slopes, leave on a sample.
double predicted_share(BytesView values, const TreeChunk& chunk, const Relations& relations) {
  const PredictionSample sample(values, chunk, relations);
  PredictionPlan full = full_plan(chunk, relations), copies = plain_plan(chunk);
  copies.slope = Slope::none;
  copies.last = Last::slope;
  double bits = std::min(sample.bits(plain_plan(chunk)), sample.bits(copies));
  if (full.bits() != plain_plan(chunk).bits() && companions_here(full, chunk, relations))
    bits = std::min(bits, sample.bits(full));
  return bits / static_cast<double>(8 * size_of(chunk.type));
}

bool prediction_pays(double predicted, double packed) noexcept {
  return predicted < predicted_part * packed && predicted + least_gain < packed;
}

/// True if zstd saves clearly more of a sample when it searches longer, as for a few numbers in any order.
bool search_pays(BytesView values, std::size_t size, bool shuffled, Packer& packer) {
  Bytes sample = sample_of(values, sample_bytes), quick, slow;
  if (shuffled) {
    Bytes turned;
    shuffle(sample, size, turned);
    sample = std::move(turned);
  }
  packer.pack({as_bytes(sample), sample.size()}, 1, quick);
  packer.pack({as_bytes(sample), sample.size()}, quiet_zstd_level, slow);
  return static_cast<double>(slow.size() + few_bytes) < paying * static_cast<double>(quick.size());
}

/// Chooses for quiet values. Returns false if the values are not quiet.
bool choose_quiet(BytesView values, const TreeChunk& chunk, const Relations& relations, Packer& packer,
                  CodingChoice& choice) {
  if (values.size() <= 2 * samples * sample_bytes) return false;
  const PackedShares packed = packed_shares(values, size_of(chunk.type), sample_bytes, packer);
  if (packed.least() > quiet_share) return false;
  const bool plain = packed.plain <= clearly_less * packed.shuffled + least_shuffled_gain;
  if (packed.least() > least_gain) {  // otherwise nothing can pay
    if (possible(TreeMethod::predicted, chunk) &&
        prediction_pays(predicted_share(values, chunk, relations), packed.least()))
      return false;
    if (search_pays(values, size_of(chunk.type), !plain, packer)) return false;
  }
  choice.candidates = {{plain ? TreeMethod::zstd : TreeMethod::shuffled, packed.least()}};
  choice.quiet_level = packed.least() > least_gain ? quiet_zstd_level : quietest_zstd_level;
  return true;
}

}  // namespace

bool surprises(const CodingChoice& choice, double share) noexcept {
  return choice.quiet_level > 0 && share > 2 * (choice.candidates.front().share + least_gain);
}

CodingChoice choose_coding(BytesView values, const TreeChunk& chunk, const Relations& relations,
                           const TreeCoding& coding, Packer& packer, bool thorough) {
  CodingChoice choice;
  std::vector<Candidate>& all = choice.candidates;
  const bool is_given = coding.method && possible(*coding.method, chunk);
  if (!coding.method && !thorough && choose_quiet(values, chunk, relations, packer, choice)) return choice;
  bool others = true;
  if (possible(TreeMethod::predicted, chunk) && (!is_given || *coding.method >= TreeMethod::predicted)) {
    others = add_predicted(values, chunk, relations, is_given, packer, choice);
  }
  if (is_given) {
    all = {{*coding.method, 1}};
    return choice;
  }
  double close = close_call;
  if (others) {
    const PackedShares packed = packed_shares(values, size_of(chunk.type), sample_bytes, packer);
    all.push_back({TreeMethod::zstd, packed.plain});
    all.push_back({TreeMethod::shuffled, packed.shuffled});
    // This is only tried if zstd saves much, because residuals repeat themselves no more than values do.
    if (packed.least() < repetitive) close = close_if_repetitive;
  }
  if (possible(TreeMethod::parent_xor, chunk)) {
    all.push_back({TreeMethod::parent_xor, xor_share(values, chunk, coding.header_bits)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.share < b.share; });
  const double best = all.front().share;
  std::erase_if(all, [&](const Candidate& one) {
    const bool packs = one.method == TreeMethod::zstd || one.method == TreeMethod::shuffled;
    const double more = one.share < repetitive ? many_more_repetitions : more_repetitions;
    const double least = packs ? one.share - more * (1 - one.share) : one.share;
    return one.share > best * close && least > best;
  });
  return choice;
}

}  // namespace sidestream::trees
