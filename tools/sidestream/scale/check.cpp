// The model has to predict small runs before it says anything of large ones.
//
// A run is predicted from costs that it had no part in: by default those fitted to the other runs. Where ranks share
// cores, an iteration takes at least the work of all of them over the number of cores.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scale/costs.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// Seconds per iteration if the ranks share the cores.
double shared_whole(const Prediction& unshared, const Split& split, int cores) {
  if (cores == 0) return unshared.whole;
  if (!split.dedicated()) return unshared.whole * std::max(1.0, static_cast<double>(split.clients) / cores);
  const double work = split.clients * unshared.simulation + split.servers * unshared.analysis;
  return std::max(unshared.whole, work / cores);
}

/// Runs that predict `run`: all others that give costs.
std::vector<MeasuredRun> without(const std::vector<MeasuredRun>& runs, const std::string& directory) {
  std::vector<MeasuredRun> others;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(others),
               [&](const MeasuredRun& one) { return one.directory != directory; });
  return others;
}

bool deviates(double measured, double expected, double within) {
  return !(std::abs(measured - expected) <= within * expected);
}

constexpr const char* off = "   NOT WHAT THE MODEL HAS";

/// A line for the time of a run.
std::string time_line(const MeasuredRun& run, const Prediction& unshared, double expected, bool wrong) {
  return fmt::format("{:>9} {:>8} {:>12.4g} {:>12.4g} {:>11.2f}  {:>10.4g} {:>10.4g}  {} ({}){}\n", run.split.clients,
                     run.split.dedicated() ? run.split.servers : 0, run.whole, expected, run.whole / expected,
                     unshared.simulation, unshared.analysis, run.split.mode, run.directory, wrong ? off : "");
}

/// Lines for the blocks and bytes that came to the servers of a run.
std::pair<std::string, bool> counts_of(const MeasuredRun& run, const StatedScale& scale) {
  const std::optional<RunMovement> moved = movement_of_run(run.directory);
  if (!moved || scale.records.pieces == 0) return {"", true};
  const double bytes = scale.program.cell_bytes * scale.records.cells;
  const double pieces = static_cast<double>(scale.records.pieces) * run.split.clients;
  const bool wrong_bytes = deviates(moved->bytes, bytes, scale.records.counts_within);
  const bool wrong_pieces = deviates(moved->pieces, pieces, scale.records.counts_within);
  std::string text =
      fmt::format("  {}: {:.6g} bytes an iteration, model {:.6g}{}; {:.6g} blocks, model {:.6g}{}\n", run.directory,
                  moved->bytes, bytes, wrong_bytes ? off : "", moved->pieces, pieces, wrong_pieces ? off : "");
  return {text, !wrong_bytes && !wrong_pieces};
}

}  // namespace

std::pair<std::string, bool> check_records(const StatedScale& scale) {
  const StatedRecords& records = scale.records;
  const std::vector<MeasuredRun> fitted = without_oversubscription(measured_runs(records.runs), records.cores);
  const std::vector<MeasuredRun> checked = measured_runs(records.check.empty() ? records.runs : records.check);
  if (checked.empty()) return {"not checked: the file names no records of runs\n", true};
  StatedScale here = scale;
  here.machine.speed = 1;
  std::string text = fmt::format("{:>9} {:>8} {:>12} {:>12} {:>11}  {:>10} {:>10}  {}\n", "clients", "servers",
                                 "s/iteration", "by model", "ratio", "simulation", "analyses", "runs");
  std::string counts;
  bool right = true;
  double worst = 0;
  for (const MeasuredRun& run : checked) {
    const std::vector<MeasuredRun> others = without(fitted, run.directory);
    if (others.empty() && scale.program.step.empty()) {
      fail(Code::configuration,
           "{}: found no other run than {} from which to predict it, expected one whose ranks "
           "have a core each; add runs",
           scale.file, run.directory);
    }
    const Prediction unshared = ScaleCosts(here, others).predict(run, records.cells);
    const double expected = shared_whole(unshared, run.split, records.cores);
    const bool wrong = deviates(run.whole, expected, records.within);
    worst = std::max(worst, std::abs(run.whole / expected - 1));
    text += time_line(run, unshared, expected, wrong);
    const auto [line, counted] = counts_of(run, scale);
    counts += line;
    right = right && !wrong && counted;
  }
  text += counts +
          fmt::format("largest deviation of a time: {:.0f} % ({:.0f} % allowed)\n", 100 * worst, 100 * records.within);
  return {text, right};
}

}  // namespace sidestream
