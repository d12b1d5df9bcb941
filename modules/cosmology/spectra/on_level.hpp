// Analyses of uniform meshes, on the cells of one level of an octree or of refinement levels.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sidestream/extend/analysis.hpp"

namespace sidestream::spectra {

/// Text of the option `level`, and the largest level that it takes.
[[nodiscard]] std::string level_text();
inline constexpr std::int32_t deepest_level = 30;

/// Without the option `level`, the task that `make` makes. With it, a task that resamples the variables of `make`'s
/// task to the cells of that level, and runs that task on these as on a uniform mesh. A cell of the level gets the mean
/// of the finer cells in it, or the value of the coarser cell that contains it; sums are exact and rounded once.
/// `variable` is the option that names a variable on the mesh. The task of `make` takes pieces of decompositions
/// without halos. Throws Error(configuration).
[[nodiscard]] std::unique_ptr<Task> task_on_level(
    const Settings& settings, const Metadata& metadata, const std::string& variable,
    const std::function<std::unique_ptr<Task>(const Settings&, const Metadata&)>& make);

}  // namespace sidestream::spectra
