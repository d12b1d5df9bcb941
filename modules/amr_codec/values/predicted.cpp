// Predictive coding of a chunk, and trials of it on a sample.
//
// Encoding: a Predictor visits tiles of 128 groups, and each tile child by child. Each value is compared with its
// prediction; the residual goes to the residual coder, or to zstd. Then the predictor learns the value and may use it
// for the next child. Decoding visits the same values and gets the residuals as input. If faces are predicted across
// groups, the groups are first ordered so that the neighbour is always known (group_order.hpp).
//
// Sampling: eight runs of sixteen groups. They are copied to one tile, so that a trial takes a few microseconds. Only
// plans that read neighbouring groups work on the chunk itself. The estimate of a plan is the entropy of the residuals'
// lengths by child, plus their low bits. Weights of corrections are fitted by least squares to eight runs of 64 groups
// (correction_fit.hpp).
#include "amr_codec/values/predicted.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "amr_codec/values/correction_fit.hpp"
#include "amr_codec/values/group_order.hpp"
#include "amr_codec/values/packer.hpp"
#include "amr_codec/values/stream_parts.hpp"
#include "amr_codec/values/tile_loops.hpp"

namespace sidestream::trees {

namespace {

std::size_t cells_of(const TreeChunk& chunk) { return chunk.groups.parent.size() * children_of(chunk); }

/// A sample: runs of groups from all over the chunk.
constexpr std::size_t sample_runs = 8, sample_run = 16;
/// Runs for fitting weights, which must be longer. In smaller chunks weights take more room than they save.
constexpr std::size_t fitted_run = 64, fitted_from = 1024;
std::size_t first_of_run(std::size_t run, std::size_t run_length, std::size_t groups) noexcept {
  return run * (groups - run_length) / (sample_runs - 1);
}
using LengthCounts = std::array<std::array<std::size_t, 65>, 8>;

// Estimated size of residuals: the entropy of their lengths, and their bits below the highest.
double bits_of(const std::array<std::size_t, 65>& counts, double& total) {
  double sum = 0, bits = 0;
  for (const std::size_t count : counts) sum += static_cast<double>(count);
  for (std::size_t length = 0; length < counts.size(); ++length) {
    if (counts[length] == 0) continue;
    const auto count = static_cast<double>(counts[length]);
    bits += count * (static_cast<double>(length > 0 ? length - 1 : 0) + std::log2(sum / count));
  }
  total += sum;
  return bits;
}

/// Calls f(weight) for each weight of a plan.
template <class Plan, class F>
void each_weight(Plan& plan, std::size_t children, F&& f) {
  const auto dimensions = static_cast<std::size_t>(std::bit_width(children) - 1);
  for (std::size_t step = 0; plan.corrected && step + 1 < children; ++step) {
    each_correction(step, dimensions, plan.slope != Slope::none,
                    [&](std::size_t term) { f(plan.weights[step][term]); });
  }
}

void put_plan(const PredictionPlan& plan, std::size_t children, Bytes& out) {
  put_byte(static_cast<std::uint8_t>(plan.bits()), out);
  put_byte(static_cast<std::uint8_t>(plan.bits() >> 8), out);
  each_weight(plan, children, [&](std::int8_t weight) { put_byte(static_cast<std::uint8_t>(weight), out); });
}

PredictionPlan take_plan(BytesView& stream, std::size_t children) {
  const unsigned low = take_byte(stream), high = take_byte(stream);
  PredictionPlan plan = PredictionPlan::of(static_cast<std::uint16_t>(low | high << 8));
  each_weight(plan, children, [&](std::int8_t& weight) { weight = static_cast<std::int8_t>(take_byte(stream)); });
  return plan;
}

void check_head(const StreamHead& head, const PredictionPlan& plan, const Relations& relations) {
  check_plan(plan, relations);
  if (head.beside != needs_beside(plan) || head.companions != companions_of(plan, relations)) {
    fail_damaged("needs other values than it says");
  }
}

}  // namespace

PredictionSample::PredictionSample(BytesView values, const TreeChunk& chunk, const Relations& relations)
    : values_(values), chunk_(chunk), relations_(relations) {
  if (!chunk.groups.beside.empty()) finder_ = GroupFinder(chunk.groups);
  // Faces are also predicted from groups outside the sample.
  if (!relations.face && chunk.groups.parent.size() > sample_runs * sample_run) put_together();
}

void PredictionSample::put_together() {
  const SiblingGroups& groups = chunk_.groups;
  for (const Companion& one : chunk_.companions) {
    // The users of the companion report a wrong size.
    if (!one.values.empty() && one.values.size() != cells_of(chunk_) * size_of(one.type)) return;
  }
  const std::size_t sides = 2 * static_cast<std::size_t>(groups.dimensions), children = children_of(chunk_);
  const auto add_run = [](const auto& from, std::size_t first, std::size_t count, auto& to) {
    if (from.empty()) return;
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  together_.companion_values.resize(chunk_.companions.size());
  for (std::size_t run = 0; run < sample_runs; ++run) {
    const std::size_t first = first_of_run(run, sample_run, groups.parent.size());
    add_run(groups.parent, first, sample_run, together_.parent);
    add_run(groups.beside, first * sides, sample_run * sides, together_.beside);
    const std::size_t bytes = children * size_of(chunk_.type);
    add_run(values_, first * bytes, sample_run * bytes, together_.values);
    for (std::size_t n = 0; n < chunk_.companions.size(); ++n) {
      const std::size_t its_bytes = children * size_of(chunk_.companions[n].type);
      add_run(chunk_.companions[n].values, first * its_bytes, sample_run * its_bytes, together_.companion_values[n]);
    }
  }
  for (std::size_t n = 0; n < chunk_.companions.size(); ++n) {
    together_.companions.push_back(
        {chunk_.companions[n].type, together_.companion_values[n], chunk_.companions[n].parents});
  }
  together_.chunk = {
      chunk_.type, {groups.dimensions, together_.parent, together_.beside}, chunk_.parents, together_.companions};
}

// Corrections need the neighbouring groups, which the copy lacks.
template <class T, class Take>
void PredictionSample::each_sampled(const PredictionPlan& plan, Take&& take) const {
  const auto begin = [](const Predictor&, std::size_t) {};
  if (together_.parent.empty() || plan.corrected) return each<T>(plan, sample_run, begin, take);
  Predictor predictor(together_.chunk, relations_, plan, together_.values, &finder_);
  WordRow<T> scratch;
  each_difference<T>(
      together_.values, predictor, 0, together_.parent.size(), {}, begin, [&] { return scratch.data(); },
      [&](std::size_t step, std::size_t, std::size_t count, const Word<T>* differences) {
        take(predictor, step, count, differences);
      });
}

template <class T, class Begin, class Take>
void PredictionSample::each(const PredictionPlan& plan, std::size_t run_length, Begin&& begin, Take&& take) const {
  Predictor predictor(chunk_, relations_, plan, values_, &finder_);
  predictor.know_all();
  predictor.use(slopes_);
  const std::size_t groups = chunk_.groups.parent.size();
  WordRow<T> scratch;
  const auto from = [&](std::size_t first, std::size_t last) {
    each_difference<T>(
        values_, predictor, first, last, {}, begin, [&] { return scratch.data(); },
        [&](std::size_t step, std::size_t, std::size_t count, const Word<T>* differences) {
          take(predictor, step, count, differences);
        });
  };
  if (groups <= sample_runs * run_length) return from(0, groups);
  for (std::size_t run = 0; run < sample_runs; ++run) {
    const std::size_t first = first_of_run(run, run_length, groups);
    from(first, first + run_length);
  }
}

double PredictionSample::bits(const PredictionPlan& plan) const {
  LengthCounts counts{};
  with_real(chunk_.type, [&]<class T>(T) {
    each_sampled<T>(plan, [&](const Predictor&, std::size_t step, std::size_t count, const Word<T>* differences) {
      for (std::size_t g = 0; g < count; ++g) ++counts[step][static_cast<std::size_t>(std::bit_width(differences[g]))];
    });
  });
  double bits = 0, numbers = 0;
  for (const auto& step : counts) bits += bits_of(step, numbers);
  return bits / std::max(numbers, 1.0);
}

bool PredictionSample::fit_corrections(PredictionPlan& plan) {
  const std::size_t children = children_of(chunk_);
  if (plan.faces || plan.closure || children < 4 || chunk_.groups.parent.size() < fitted_from) return false;
  plan.corrected = true;  // with all weights 0 so far
  plan.weights = {};
  const auto dimensions = static_cast<std::size_t>(chunk_.groups.dimensions);
  const bool curved = plan.slope != Slope::none;
  CorrectionFit fit(children, dimensions, curved);
  if (curved) slopes_ = Predictor(chunk_, relations_, plan, values_, &finder_).find_slopes();
  with_real(chunk_.type, [&]<class T>(T) {
    each<T>(
        plan, fitted_run, [](const Predictor&, std::size_t) {},
        [&](const Predictor& predictor, std::size_t step, std::size_t count, const Word<T>* differences) {
          if (step + 1 == children) {
            each_correction(0, dimensions, curved, [&](std::size_t term) {
              for (std::size_t g = 0; g < count; ++g) fit.add_term(term, g, predictor.term(term)[g]);
            });
            return fit.end_tile(count);
          }
          for (std::size_t g = 0; g < count; ++g) {
            const Word<T> word =
                ordered(static_cast<Word<T>>(expected<T>(predictor.predicted()[g]) + unzigzag(differences[g])));
            fit.add(step, g, static_cast<double>(std::bit_cast<T>(word)) - predictor.predicted()[g]);
          }
        });
  });
  plan.weights = fit.weights();
  return true;
}

Bytes PredictionSample::differences(const PredictionPlan& plan) const {
  Bytes shuffled;
  with_real(chunk_.type, [&]<class T>(T) {
    std::vector<Word<T>> sample;
    each_sampled<T>(plan, [&](const Predictor&, std::size_t, std::size_t count, const Word<T>* differences) {
      sample.insert(sample.end(), differences, differences + count);
    });
    shuffle(std::as_bytes(std::span(sample)), sizeof(T), shuffled);
  });
  return shuffled;
}

namespace {

/// Calls take(predictor, step, first group, count, differences) for all values.
template <class T, class Begin, class Scratch, class Take>
void all_differences(BytesView values, const TreeChunk& chunk, const Relations& relations, const PredictionPlan& plan,
                     const ParentSlopes& slopes, Begin&& begin, Scratch&& scratch, Take&& take) {
  std::optional<GroupOrder> group_order;
  if (chained(plan, relations)) group_order.emplace(chunk, relations);
  Predictor predictor(chunk, relations, plan, values);
  if (group_order) predictor.use(*group_order);
  predictor.use(slopes);
  each_difference<T>(values, predictor, 0, chunk.groups.parent.size(),
                     group_order ? std::span(group_order->ends()) : std::span<const std::size_t>(), begin, scratch,
                     [&](std::size_t step, std::size_t tile, std::size_t count, const Word<T>* differences) {
                       take(predictor, step, tile, count, differences);
                     });
}

template <class T, class Begin, class Give>
void all_values(std::span<std::byte> values, const TreeChunk& chunk, const Relations& relations,
                const PredictionPlan& plan, Begin&& begin, Give&& give) {
  std::optional<GroupOrder> group_order;
  if (chained(plan, relations)) group_order.emplace(chunk, relations);
  Predictor predictor(chunk, relations, plan, values);
  if (group_order) predictor.use(*group_order);
  each_value<T>(values, predictor, chunk.groups.parent.size(),
                group_order ? std::span(group_order->ends()) : std::span<const std::size_t>(), begin,
                [&](std::size_t step, std::size_t tile, std::size_t count, WordRow<T>& differences) {
                  give(predictor, step, tile, count, differences);
                });
}

}  // namespace

void encode_predicted(BytesView values, const TreeChunk& chunk, const Relations& relations, const PredictionPlan& plan,
                      const ParentSlopes& slopes, Packer& packer, Bytes& out) {
  put_plan(plan, children_of(chunk), out);
  with_real(chunk.type, [&]<class T>(T) {
    ResidualWriter writer(cells_of(chunk), sizeof(T));
    all_differences<T>(
        values, chunk, relations, plan, slopes,
        [&](const Predictor& predictor, std::size_t count) {
          writer.begin_tile(predictor.change(), predictor.parents(), count);
        },
        [&] { return reinterpret_cast<Word<T>*>(writer.next_residuals()); },
        [&](const Predictor& predictor, std::size_t step, std::size_t, std::size_t count, const Word<T>*) {
          writer.put<Word<T>>(step, {predictor.from(), predictor.uniform(), count});
        });
    writer.finish<Word<T>>(packer, out);
  });
}

void decode_predicted(BytesView stream, const StreamHead& head, const TreeChunk& chunk, const Relations& relations,
                      std::span<std::byte> values) {
  const PredictionPlan plan = take_plan(stream, children_of(chunk));
  check_head(head, plan, relations);
  with_real(chunk.type, [&]<class T>(T) {
    ResidualReader reader(stream, cells_of(chunk), sizeof(T));
    all_values<T>(
        values, chunk, relations, plan,
        [&](const Predictor& predictor, std::size_t count) {
          reader.begin_tile(predictor.change(), predictor.parents(), count);
        },
        [&](const Predictor& predictor, std::size_t step, std::size_t, std::size_t count, WordRow<T>& differences) {
          reader.take(step, {predictor.from(), predictor.uniform(), count}, differences.data());
        });
    reader.finish();
  });
}

void encode_predicted_zstd(BytesView values, const TreeChunk& chunk, const Relations& relations,
                           const PredictionPlan& plan, const ParentSlopes& slopes, int level, Packer& packer,
                           Bytes& out) {
  const std::size_t children = children_of(chunk);
  put_plan(plan, children, out);
  with_real(chunk.type, [&]<class T>(T) {
    std::vector<Word<T>> all(cells_of(chunk));
    WordRow<T> scratch;
    all_differences<T>(
        values, chunk, relations, plan, slopes, [](const Predictor&, std::size_t) {}, [&] { return scratch.data(); },
        [&](const Predictor& predictor, std::size_t step, std::size_t, std::size_t count, const Word<T>* differences) {
          const std::size_t child = predictor.child(step);
          for (std::size_t g = 0; g < count; ++g) all[predictor.group(g) * children + child] = differences[g];
        });
    Bytes shuffled;
    shuffle(std::as_bytes(std::span(all)), sizeof(T), shuffled);
    packer.pack({as_bytes(shuffled), shuffled.size()}, level, out);
  });
}

void decode_predicted_zstd(BytesView stream, const StreamHead& head, const TreeChunk& chunk, const Relations& relations,
                           std::span<std::byte> values) {
  const std::size_t children = children_of(chunk);
  const PredictionPlan plan = take_plan(stream, children);
  check_head(head, plan, relations);
  with_real(chunk.type, [&]<class T>(T) {
    std::vector<Word<T>> all(cells_of(chunk));
    std::vector<std::uint8_t> shuffled(all.size() * sizeof(T));
    unpack(stream, shuffled);
    unshuffle(std::as_bytes(std::span(shuffled)), sizeof(T), std::as_writable_bytes(std::span(all)));
    all_values<T>(
        values, chunk, relations, plan, [](const Predictor&, std::size_t) {},
        [&](const Predictor& predictor, std::size_t step, std::size_t, std::size_t count, WordRow<T>& differences) {
          const std::size_t child = predictor.child(step);
          for (std::size_t g = 0; g < count; ++g) differences[g] = all[predictor.group(g) * children + child];
        });
  });
}

}  // namespace sidestream::trees
