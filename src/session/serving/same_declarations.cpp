#include "session/serving/same_declarations.hpp"

#include <algorithm>

#include "client/declarations.hpp"
#include "data/derivation.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

void check_same_declarations(const Config& config, const std::string& file, const SidecarSetup& setup) {
  Declarations mine;
  mine.metadata = published_part(config.metadata);
  if (mine.encode() != setup.metadata) {
    fail(Code::configuration,
         "{}: meshes and variables differ from those of the simulation, which read {}; give both the same sections "
         "meshes and variables (analyses and outputs may differ)",
         file, setup.file);
  }
  const std::string steering = steering_text(config);
  if (steering != setup.steering) {
    fail(Code::configuration,
         "{}: found the steered parameters '{}', expected '{}' as in the simulation, which read {}; give both the same "
         "sections steering and steering_ahead, and the same when_full and max_in_flight",
         file, steering, setup.steering, setup.file);
  }
  const bool ends = std::count(setup.events.begin(), setup.events.end(), ending_event) > 0;
  if (config.opening.ending.any() && !ends) {
    fail(
        Code::configuration,
        "{}: found the section 'ending', which the simulation does not have, which read {}; give both the same section",
        file, setup.file);
  }
  for (const TaskConfig& task : config.tasks) {
    const std::string& event = task.schedule.event;
    if (event.empty() || std::count(setup.events.begin(), setup.events.end(), event) > 0) continue;
    fail(Code::configuration,
         "{}: '{}' runs on the event '{}', which the simulation does not know; name it under `events:` in the "
         "configuration of the simulation, {}",
         file, task.name, event, setup.file);
  }
}

}  // namespace sidestream
