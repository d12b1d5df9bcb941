#include "timing.hpp"

#include <algorithm>
#include <cstdio>

namespace oscillators {

namespace {

double median(const std::vector<StepTimes>& times, double StepTimes::*field) {
  std::vector<double> values;
  for (const StepTimes& step : times) values.push_back(step.*field);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::string describe_times(MPI_Comm comm, const std::vector<StepTimes>& mine) {
  const std::vector<StepTimes> all = mini_app::gathered_times(comm, mine);
  if (all.empty()) return "";
  const StepTimes& last = mine.back();
  char text[200];
  std::snprintf(text, sizeof text,
                "%zu steps in %.2f s; medians per step: compute %.2f ms, publish %.3f ms, end of step %.3f ms.",
                mine.size(), last.start + last.compute + last.publish + last.end,
                1e3 * median(all, &StepTimes::compute), 1e3 * median(all, &StepTimes::publish),
                1e3 * median(all, &StepTimes::end));
  return text;
}

}  // namespace oscillators
