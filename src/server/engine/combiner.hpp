// Main loop of a server that combines partial results of other servers.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "server/engine/ledger.hpp"
#include "server/engine/scheduled_task.hpp"
#include "sidestream/extend/combination.hpp"

namespace sidestream {

/// Parts of the combiner; references must outlive it.
struct CombinerParts {
  const Metadata& metadata;
  PartialReceiver& receiver;
  std::vector<ScheduledTask>& tasks;  ///< in the file's order, the same as on the reducing servers
  std::function<std::unique_ptr<Results>(const Iteration&)> results;
  double origin = 0;
  bool timings = true;
  LedgerRows rows{};
};

/// Runs `combine` of the analyses in the order in which rounds arrive, which is the same on all combining servers.
class Combiner {
 public:
  explicit Combiner(CombinerParts parts);
  /// Runs until all reducing servers have closed.
  void run();
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }

 private:
  void combine(const ReceivedRound& received);
  CombinerParts parts_;
  Ledger ledger_;
  std::int64_t iteration_ = -1;  ///< the iteration of `results_`
  std::unique_ptr<Results> results_;
};

}  // namespace sidestream
