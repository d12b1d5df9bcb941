// Costs of a program on any number of ranks and cells, stated or fitted to records of runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "advise/cost_model.hpp"
#include "scale/stated.hpp"

namespace sidestream {

/// Seconds of a part on `ranks` ranks. `boxes`: pieces of the grid, a whole number for each rank; 0: any share.
[[nodiscard]] double seconds_of(const StatedPart& part, double cells, int ranks, int boxes = 0);

/// The costs of advice, per cell: the parts of a step and of analyses. What the file states replaces what was fitted.
class ScaleCosts {
 public:
  /// `runs`: those that are fitted. Throws Error(configuration) if a part is neither stated nor fitted.
  ScaleCosts(const StatedScale& scale, const std::vector<MeasuredRun>& runs);

  [[nodiscard]] const StatedPart& step() const noexcept { return step_; }
  /// The parts of these names, all for none. Throws Error(configuration) for an unknown name.
  [[nodiscard]] std::vector<StatedPart> tasks(const std::vector<std::string>& names) const;
  /// A recorded run as the model has it, on cores that are its own. Runs take what calls and assembly took in others.
  [[nodiscard]] Prediction predict(const MeasuredRun& run, double cells) const;

 private:
  std::string file_;
  StatedPart step_;
  std::vector<StatedPart> tasks_;
  std::unique_ptr<FittedCosts> fitted_;  ///< null without runs
};

/// Reads runs. Throws Error(file) or Error(configuration).
[[nodiscard]] std::vector<MeasuredRun> measured_runs(const std::vector<std::string>& directories);

/// Runs whose ranks have a core each: only their times are costs.
[[nodiscard]] std::vector<MeasuredRun> without_oversubscription(const std::vector<MeasuredRun>& runs, int cores);

/// Predicts the runs of the records. Returns a report, and false if one deviates by more than is allowed.
[[nodiscard]] std::pair<std::string, bool> check_records(const StatedScale& scale);

}  // namespace sidestream
