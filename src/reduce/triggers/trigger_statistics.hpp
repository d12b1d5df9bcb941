// The task that computes the statistics for conditions. Its feedback has them as doubles, in the order in which they
// were asked for.
#pragma once

#include <memory>
#include <vector>

#include "data/statistic.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

[[nodiscard]] std::unique_ptr<Task> make_trigger_statistics(const std::vector<Statistic>& wanted);

}  // namespace sidestream
