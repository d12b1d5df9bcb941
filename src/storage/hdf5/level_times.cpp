#include "storage/hdf5/level_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/fail.hpp"

namespace sidestream {

Option level_times_option() {
  Option times{.name = "level_times", .type = OptionType::event};
  times.text =
      "An event whose values (float64, scope all) are the times of the refinement levels, from 0 on, where they have such of their "
      "own: kept with the octrees and the meshes with refinement levels. In iterations without it they have the iteration's.";
  return times;
}

std::vector<double> level_times_of(const LocalInput& input, const std::string& event) {
  if (event.empty()) return {};
  const auto named = [&](const Event& one) { return one.name == event; };
  const auto found = std::find_if(input.events.rbegin(), input.events.rend(), named);
  if (found == input.events.rend()) return {};
  if (found->type != Type::float64 || found->scope != EventScope::all) {
    fail(Code::analysis, "the event '{}' has values of type {}{}, expected the times of levels: float64, of scope all",
         event, name_of(found->type), found->scope == EventScope::all ? "" : " for some servers");
  }
  std::vector<double> times(found->count());
  std::memcpy(times.data(), found->values.data(), found->values.size());
  for (const double time : times) {
    if (!std::isfinite(time)) fail(Code::analysis, "the event '{}' has a time that is {}", event, time);
  }
  return times;
}

}  // namespace sidestream
