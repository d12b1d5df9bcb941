// Times of single refinement levels, which a program says with an event.
#pragma once

#include <string>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// The option `level_times`: the event's name.
[[nodiscard]] Option level_times_option();

/// The times of levels, from 0 on, that the event has in this iteration, the last one if there are several; none if
/// there is none, or without a name. Throws Error(analysis) if its values are no times.
[[nodiscard]] std::vector<double> level_times_of(const LocalInput& input, const std::string& event);

/// Whether levels of the mesh may have such.
[[nodiscard]] inline bool has_level_times(const Mesh& mesh) {
  return mesh.kind() == MeshKind::octree || !mesh.refinement.empty();
}

}  // namespace sidestream
