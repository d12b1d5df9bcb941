// The statistics that conditions need, as a task: its feedback has them as doubles, in the order asked for.
#pragma once

#include <memory>
#include <vector>

#include "data/statistic.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

[[nodiscard]] std::unique_ptr<Task> make_trigger_statistics(const std::vector<Statistic>& wanted);

}  // namespace sidestream
