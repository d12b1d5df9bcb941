// A summary of the times of the steps.
#pragma once

#include <string>
#include <vector>

#include "mini_app/timing.hpp"

namespace oscillators {

using mini_app::StepTimes;

/// Collective: medians over steps and ranks and the total, as a sentence on rank 0; empty elsewhere.
[[nodiscard]] std::string describe_times(MPI_Comm comm, const std::vector<StepTimes>& mine);

}  // namespace oscillators
