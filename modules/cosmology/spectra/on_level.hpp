// Analyses of uniform meshes, on the cells of one level of an octree or of refinement levels.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sidestream/extend/analysis.hpp"

namespace sidestream::spectra {

/// Text of the option `level`, and its largest value.
[[nodiscard]] std::string level_text();
inline constexpr std::int32_t deepest_level = 30;

/// Returns the task that `make` makes or, with the option `level`, a task that resamples its variables to the cells of
/// that level and then runs it as on a uniform mesh. A cell of the level gets the mean of the finer cells in it, or the
/// value of the coarser cell that contains it; sums are exact and rounded once. `variable` is the option that names a
/// variable on the mesh. The task of `make` takes pieces of decompositions without halos. Throws Error(configuration).
[[nodiscard]] std::unique_ptr<Task> task_on_level(
    const Settings& settings, const Metadata& metadata, const std::string& variable,
    const std::function<std::unique_ptr<Task>(const Settings&, const Metadata&)>& make);

}  // namespace sidestream::spectra
