// `sidestream advise`: reads runs, tries all splits, and reports which takes the least time and why.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "advise/candidates.hpp"
#include "advise/cost_model.hpp"
#include "advise/placed.hpp"
#include "commands.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace {

constexpr std::size_t rows_shown = 8;
constexpr double small_share = 0.05;  ///< of a run, that analyses inline may take

struct Choice {
  Split split;
  Prediction time;

  /// Less than this is improbable.
  [[nodiscard]] double least_time() const { return time.whole / (1 + time.doubt); }
};

CostModel model_of(const std::vector<std::string>& directories) {
  std::vector<MeasuredRun> runs;
  for (const std::string& directory : directories) {
    runs.push_back(measured_run(directory));
    const std::string& mode = runs.back().split.mode;
    if (runs.back().tasks.empty()) {
      fail(Code::usage, "{}: found no tasks in a run with `placement: {}`, expected one with analyses; give others",
           directory, mode);
    }
  }
  return CostModel(std::move(runs));
}

/// All splits, the fastest first.
std::vector<Choice> choices_of(const CostModel& model, const AdviseOptions& options, std::size_t iterations) {
  std::vector<Choice> all;
  for (Split& split : candidates(model, options.ranks, options.nodes)) {
    const Prediction time = model.predict(split, iterations);
    all.push_back({std::move(split), time});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Choice& a, const Choice& b) { return a.time.whole < b.time.whole; });
  return all;
}

const char* binding(const Choice& choice) {
  if (!choice.split.dedicated()) return "both in turn";
  return choice.time.simulation >= choice.time.analysis ? "simulation" : "servers";
}

std::string runs_text(const CostModel& model) {
  std::string text =
      fmt::format("{:>9} {:>8} {:>12} {:>12}  {}\n", "clients", "servers", "s/iteration", "by model", "measured runs");
  for (const MeasuredRun& run : model.runs()) {
    text += fmt::format("{:>9} {:>8} {:>12.4g} {:>12.4g}  {} ({})\n", run.split.clients,
                        run.split.dedicated() ? run.split.servers : 0, run.whole,
                        model.costs().of(run.split, run.iterations).whole, placement_text(run.split), run.directory);
  }
  return text;
}

std::string choices_text(const std::vector<Choice>& choices, std::size_t shown) {
  std::string text = fmt::format("{:>9} {:>8} {:>12} {:>5} {:>12} {:>12} {:>13}  {}\n", "clients", "servers",
                                 "s/iteration", "+-", "simulation", "analyses", "bound by", "placement");
  for (std::size_t n = 0; n < std::min(shown, choices.size()); ++n) {
    const auto& [split, time] = choices[n];
    text += fmt::format("{:>9} {:>8} {:>12.4g} {:>4.0f}% {:>12.4g} {:>12.4g} {:>13}  {}{}\n", split.clients,
                        split.dedicated() ? split.servers : 0, time.whole, 100 * time.doubt, time.simulation,
                        time.analysis, binding(choices[n]), placement_text(split), time.measured ? ", measured" : "");
  }
  if (choices.size() > shown) {
    text += fmt::format("  and {} slower ones; --table FILE writes all\n", choices.size() - shown);
  }
  return text;
}

const Choice* inline_of(const std::vector<Choice>& choices) {
  const auto found =
      std::find_if(choices.begin(), choices.end(), [](const Choice& one) { return !one.split.dedicated(); });
  return found == choices.end() ? nullptr : &*found;
}

/// Bytes with a unit, rounded up to a power of two of MiB.
std::string buffer_size(double bytes) {
  double size = 1;
  while (size * (1 << 20) < bytes) size *= 2;
  return fmt::format("{:.0f} MiB", size);
}

/// The room for iterations that come while an iteration with all tasks is analysed.
std::string buffer_text(const Choice& best, const CostModel& model) {
  const Prediction& time = best.time;
  const double held = 1 + std::ceil(std::max(1.0, time.longest / std::max(time.simulation, 1e-300)));
  std::string text = fmt::format(
      "  buffer: room for {:.0f} iterations, since an iteration with all tasks takes as long as {:.2g} of the "
      "simulation",
      held, time.longest / std::max(time.simulation, 1e-300));
  double moved = 0;
  for (const MeasuredRun& run : model.runs()) moved = std::max(moved, run.moved);
  if (moved <= 0) return text + "; a run with `nodes` tells the bytes of one\n";
  const int nodes = best.split.nodes;
  return text + fmt::format("; at least `buffer: {}`{}, by what servers got\n", buffer_size(held * moved / nodes),
                            nodes > 1 ? fmt::format(" on each of {} nodes", nodes) : "");
}

/// The limiting resource, and the change that would free it.
std::string reason_text(const Choice& best, const std::vector<Choice>& choices, const CostModel& model) {
  const auto& [split, time] = best;
  std::string text = fmt::format("placement: {}\n", placement_text(split));
  for (const auto& [group, tasks] : split.groups.empty() ? Division() : split.division) {
    text += fmt::format("  `group: {}` for {}\n", group, listed(tasks));
  }
  const Choice* const turns = inline_of(choices);
  if (split.dedicated() && turns) {
    text += fmt::format("  {:.2f} times as fast as inline. ", turns->time.whole / time.whole);
  } else {
    text += "  Dedicated processes would cost the simulation more than the analyses do. ";
  }
  if (!split.dedicated()) {
    const double ratio = time.analysis / std::max(time.simulation, 1e-300);
    text += fmt::format("Of an iteration the analyses take {:.0f} %", 100 * ratio / (1 + ratio));
    const double every = std::ceil(ratio * (1 / small_share - 1));
    return text + (every > 1 ? fmt::format("; with `every: {:.0f}` for all tasks they would take {:.0f} %.\n", every,
                                           100 * small_share)
                             : ".\n");
  }
  if (time.simulation >= time.analysis) {
    return text +
           fmt::format("The simulation sets the pace; servers have {:.0f} % of their time left.\n",
                       100 * (1 - time.analysis / std::max(time.simulation, 1e-300))) +
           buffer_text(best, model);
  }
  const double longer = time.analysis / std::max(time.simulation, 1e-300);
  return text +
         fmt::format(
             "The servers set the pace, the simulation waits for them {:.0f} % of the time. With `every: {}` for "
             "all tasks it would not wait.\n",
             100 * (1 - 1 / longer), static_cast<int>(std::ceil(longer))) +
         buffer_text(best, model);
}

/// The most useful run to measure: possibly the fastest, and not measured yet.
std::string next_text(const CostModel& model, const std::vector<Choice>& choices) {
  std::string text;
  if (!model.scales_simulation()) {
    text += "  The simulation was measured with one number of clients: that it scales is assumed.\n";
  }
  if (!model.scales_tasks()) {
    text += "  Tasks were measured with one number of servers: what each server did by itself is taken to scale.\n";
  }
  const Choice* next = nullptr;
  for (const Choice& choice : choices) {
    if (choice.time.measured || choice.least_time() >= choices.front().time.whole) continue;
    if (next == nullptr || choice.least_time() < next->least_time()) next = &choice;
  }
  if (next == nullptr) return text + "next: nothing to measure, no other split can be expected to be faster\n";
  const bool first = next == &choices.front();
  return text + fmt::format("next: measure {}, {} clients: it {}, within {:.0f} %\n", placement_text(next->split),
                            next->split.clients, first ? "is the advice, and predicted only" : "may be as fast",
                            100 * next->time.doubt);
}

/// All choices, for `sidestream plot` and others.
std::string table_text(const std::vector<Choice>& choices) {
  std::string text = "placement,options,clients,servers,seconds,doubt,simulation,analysis,measured\n";
  for (const auto& [split, time] : choices) {
    text += fmt::format("{},\"{}\",{},{},{:.9g},{:.3g},{:.9g},{:.9g},{}\n", split.mode, placement_text(split),
                        split.clients, split.dedicated() ? split.servers : 0, time.whole, time.doubt, time.simulation,
                        time.analysis, time.measured ? 1 : 0);
  }
  return text;
}

std::size_t iterations_of(const CostModel& model, const AdviseOptions& options) {
  if (options.iterations > 0) return static_cast<std::size_t>(options.iterations);
  std::size_t most = 1;
  for (const MeasuredRun& run : model.runs()) most = std::max(most, run.iterations);
  return most;
}

}  // namespace

std::string advise(const AdviseOptions& options) {
  const CostModel model = model_of(options.runs);
  const std::size_t iterations = iterations_of(model, options);
  const std::vector<Choice> choices = choices_of(model, options, iterations);
  const Choice& best = choices.front();
  std::string text = runs_text(model);
  text += fmt::format("splits of {} ranks on {} node{}, {} iterations\n", options.ranks, options.nodes,
                      options.nodes == 1 ? "" : "s", iterations);
  text += choices_text(choices, rows_shown) + reason_text(best, choices, model) + next_text(model, choices);
  if (!options.table.empty()) {
    replace_file(options.table, table_text(choices));
    text += fmt::format("written: {}\n", options.table);
  }
  if (!options.output.empty()) {
    const std::string& run = options.runs.front();
    replace_file(options.output, placed(configuration_of_run(run), run, best.split));
    text += fmt::format("written: {}\n", options.output);
  }
  return text;
}

}  // namespace sidestream
