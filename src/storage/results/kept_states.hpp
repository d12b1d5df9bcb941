// States of analyses in the output directory. A later run continues with them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// The states `states/NAME-CYCLE`: a directory with a file for each server that kept a part. The list
/// `states/NAME-CYCLE.state` next to it is written last; without it the directory does not count.
class StateFiles {
 public:
  explicit StateFiles(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}

  /// Collective; see KeptStates. Replaces a state of the same cycle.
  void keep(const std::string& name, const Iteration& iteration, BytesView mine, Communicator& servers, int most) const;
  /// Sets the first iteration of these servers, if others of the same session had those before. `earlier` then warns of
  /// iterations that no state has.
  void take_over_at(std::int64_t iteration) noexcept { taken_over_at_ = iteration; }
  /// Collective; see KeptStates. `first`: the first iteration of the task.
  [[nodiscard]] std::vector<Bytes> earlier(const std::string& name, const Iteration& first,
                                           Communicator& servers) const;

 private:
  [[nodiscard]] std::string path(const std::string& name) const;
  [[nodiscard]] std::vector<std::int64_t> cycles(const std::string& name) const;
  [[nodiscard]] std::optional<std::int64_t> choose(const std::string& name, std::int64_t cycle) const;
  void remove(const std::string& name, std::int64_t cycle) const noexcept;
  void warn_of_lost(const std::string& name, std::int64_t known) const;

  std::shared_ptr<const OutputDirectory> directory_;
  std::int64_t taken_over_at_ = 0;
};

}  // namespace sidestream
