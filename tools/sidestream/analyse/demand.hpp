// Data of the files that the tasks of a configuration need.
#pragma once

#include <functional>
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
  /// `files`: their metadata. Throws Error(configuration) if the configuration does not fit them.
  Demand(const Document& document, const Parameters& parameters, const Metadata& files);

  /// All declarations, of the configuration and of the files. Ids in this class refer to it.
  [[nodiscard]] const Metadata& metadata() const noexcept { return config_.metadata; }
  [[nodiscard]] const OpeningConfig& opening() const noexcept { return config_.opening; }
  /// By variable: true if any task needs it in any iteration.
  [[nodiscard]] const std::vector<bool>& variables() const noexcept { return ever_; }
  /// True if a task needs the list of all blocks, also of meshes whose values are not read.
  [[nodiscard]] bool catalogue() const noexcept { return catalogue_; }
  /// Names of tasks that wait for an event of a program, which files do not have.
  [[nodiscard]] const std::vector<std::string>& waiting() const noexcept { return waiting_; }

  /// Range of a variable on blocks[b], if known.
  using RangeOf = std::function<std::optional<Range>(std::int32_t variable, std::size_t b)>;

  /// Needed blocks in the iteration, by variable and block; unneeded variables have no entries. Call once per
  /// iteration, in order. `blocks`: all blocks.
  [[nodiscard]] std::vector<std::vector<bool>> of(const Iteration& iteration, std::span<const Block> blocks,
                                                  const RangeOf& range_of);

 private:
  struct Task {
    ScheduleState schedule;
    std::vector<Selected> needs;
    bool uncertain = false;  ///< true if it is unknown before the iteration whether the task runs
  };
  void add(const TaskConfig& task, const Selection& selection);
  void add_statistics();
  void add_partitioner(const Registry& registry);
  [[nodiscard]] Selection selection_of(const TaskConfig& task, const Registry& registry) const;

  Config config_;
  std::vector<Task> tasks_;
  std::vector<bool> ever_;
  bool catalogue_ = false;
  std::vector<std::string> waiting_;
};

}  // namespace sidestream::analysing
