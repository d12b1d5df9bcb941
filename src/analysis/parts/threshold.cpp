// The cells of a mesh in which a variable lies in a range.
#include "analysis/common/kinds.hpp"
#include "analysis/parts/part_task.hpp"

namespace sidestream {

AnalysisKind threshold_kind() {
  std::vector<Option> options = threshold_options();
  options.push_back(file_option("threshold-{index:05}.vtu", "The cells, one file an iteration."));
  options.push_back(pieces_option());
  return {
      .name = "threshold",
      .text =
          "The cells of a mesh, or the particles, in which a component of a variable lies in a range, both ends of "
          "which belong to it, as an unstructured mesh with the variable and those under `fields`. NaN lies in no "
          "range. Of a variable at points all points of a cell must have a value in the range, or with `points: any` "
          "one. Meshes are uniform, rectilinear, curvilinear, unstructured, octrees or points, of one to three dimensions, "
          "with refinement levels or without; each place counts once, on its finest level. Points and cells come in the "
          "order of their numbers in the mesh, points once each, so that results are the same bytes however the mesh "
          "is divided (docs/parts-of-meshes.md).",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<PartTask<ThresholdQuery>>(read_threshold(settings, metadata), settings, metadata);
      },
  };
}

}  // namespace sidestream
