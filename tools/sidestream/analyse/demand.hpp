// What the tasks of a configuration need of the files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "server/engine/schedule.hpp"
#include "sidestream/data/range.hpp"

namespace sidestream::analysing {

class Demand {
 public:
  /// `files`: what they have. Throws Error(configuration) where the configuration is wrong for them.
  Demand(const Document& document, const Parameters& parameters, const Metadata& files);

  /// Everything that is declared: in the configuration and by the files. Ids here count these.
  [[nodiscard]] const Metadata& metadata() const noexcept { return config_.metadata; }
  [[nodiscard]] const OpeningConfig& opening() const noexcept { return config_.opening; }
  /// By variable: whether any task needs it in any iteration.
  [[nodiscard]] const std::vector<bool>& variables() const noexcept { return ever_; }
  /// Tasks that wait for an event of a program, which no file has: by name.
  [[nodiscard]] const std::vector<std::string>& waiting() const noexcept { return waiting_; }

  /// Between which numbers a variable is on blocks[b], if that is known.
  using RangeOf = std::function<std::optional<Range>(std::int32_t variable, std::size_t b)>;

  /// By variable and block, what is needed in the iteration; a variable that nobody needs has no entries. Asked once
  /// for each iteration, in order. `blocks`: all there are.
  [[nodiscard]] std::vector<std::vector<bool>> of(const Iteration& iteration, std::span<const Block> blocks,
                                                  const RangeOf& range_of);

 private:
  struct Task {
    ScheduleState schedule;
    std::vector<Selected> needs;
    bool uncertain = false;  ///< whether it runs is not known before the iteration is there
  };
  void add(const TaskConfig& task, const Selection& selection);
  void add_statistics();
  void add_partitioner(const Registry& registry);
  [[nodiscard]] Selection selection_of(const TaskConfig& task, const Registry& registry) const;

  Config config_;
  std::vector<Task> tasks_;
  std::vector<bool> ever_;
  std::vector<std::string> waiting_;
};

}  // namespace sidestream::analysing
