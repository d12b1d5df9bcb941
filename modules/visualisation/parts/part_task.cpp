// The analyses `threshold` and `clip`: cells of blocks, merged into one set of cells.
#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/extract/part_query.hpp"
#include "visualisation/kinds.hpp"

namespace sidestream {

namespace {

/// The part of a mesh in a range of values, or on one side of a plane, within a box or outside of it.
template <class Query>
class PartTask final : public Task {
 public:
  PartTask(Query query, const Settings& settings, const Metadata& metadata)
      : query_(std::move(query)),
        selection_(selection_of(query_, metadata)),
        layout_(layout_of(query_, metadata)),
        file_(settings.text("file")),
        pieces_(read_pieces(settings)),
        notice_(file_),
        empty_(file_) {
    if constexpr (by_values) {
      seen_.emplace(seen_values_of(query_));
      selection_.variables.push_back(seen_->entry());
    }
  }

  Selection selection() const override { return selection_; }
  Bytes local(const LocalInput& input) override { return to_bytes(parts_of(query_, input)); }
  Bytes combine(const CombineInput& input) override {
    const auto has_cells = [](const Bytes& partial) { return !partial.empty(); };
    const bool some = std::any_of(input.partials.begin(), input.partials.end(), has_cells);
    empty_.look({some ? 1 : 0}, input, [&](const auto&) { return why(input); });
    if (seen_) seen_->forget();
    notice_.tell(add_part(file_, pieces_, layout_, input));
    return {};
  }
  void discard(const Iteration&) noexcept override {
    if (seen_) seen_->forget();
  }

 private:
  static constexpr bool by_values = std::is_same_v<Query, ThresholdQuery>;

  [[nodiscard]] std::string why(const CombineInput& input) const {
    if constexpr (by_values) {
      return why_empty(query_, *seen_, input);
    } else {
      return why_empty(query_, input);
    }
  }

  Query query_;
  std::optional<SeenValues> seen_;  ///< only for a threshold
  Selection selection_;
  CellLayout layout_;
  std::string file_;
  Pieces pieces_;
  RepeatedPointsNotice notice_;
  EmptyNotice empty_;
};

/// The cells with the variable and the fields, each at points or in cells as it was.
ResultMesh part_mesh(const Settings& settings, const Metadata& metadata) {
  std::vector<std::string> names = settings.texts("fields");
  names.insert(names.begin(), settings.text("variable"));
  const Mesh& mesh = metadata.mesh_of(*metadata.find_variable(names.front()));
  ResultMesh made = result_lists(MeshKind::unstructured);
  for (const std::string& name : names) {
    const Variable& variable = *metadata.find_variable(name);
    const bool in_cells = variable.centering == Centering::cell || mesh.kind() == MeshKind::points;
    const bool twice = std::ranges::any_of(made.variables, [&](const Variable& one) { return one.name == name; });
    if (!twice) made.variables.push_back(result_variable(variable, in_cells ? Centering::cell : Centering::node));
  }
  return made;
}

}  // namespace

AnalysisKind clip_kind() {
  std::vector<Option> options = clip_options();
  options.push_back(file_option("clip-{index:05}.vtu", "The cells, one file per iteration."));
  options.push_back(pieces_option());
  return {
      .name = "clip",
      .text =
          "The part of a mesh on one side of a plane, within a box or a sphere or outside of it, or the particles there, as an "
          "unstructured mesh with the variable and those in `fields`. Cut cells become tetrahedra, pyramids and "
          "wedges (triangles and quadrilaterals, lines), which fill the kept part exactly if the cell is convex with "
          "flat faces; values at points are interpolated linearly along edges. With `whole_cells` they are kept "
          "whole. Points in the plane or in the box's faces belong to both sides. Meshes, refinement levels and the "
          "order of points and cells are those of `threshold` (docs/parts-of-meshes.md).",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<PartTask<ClipQuery>>(read_clip(settings, metadata), settings, metadata);
      },
      .result_mesh = part_mesh,
  };
}

AnalysisKind threshold_kind() {
  std::vector<Option> options = threshold_options();
  options.push_back(file_option("threshold-{index:05}.vtu", "The cells, one file per iteration."));
  options.push_back(pieces_option());
  return {
      .name = "threshold",
      .text =
          "The cells of a mesh, or the particles, in which a component of a variable lies in a closed range, as an "
          "unstructured mesh with the variable and those in `fields`. NaN lies in no range. For a variable at "
          "points, all points of a cell must have a value in the range, or, with `points: any`, one of them. Meshes "
          "are uniform, rectilinear, curvilinear, unstructured, octrees or points, of one to three dimensions, with "
          "or without refinement levels; each place counts once, on its finest level. Points and cells come in the "
          "order of their numbers in the mesh, each point once, so that results are the same bytes however the mesh "
          "is divided (docs/parts-of-meshes.md).",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<PartTask<ThresholdQuery>>(read_threshold(settings, metadata), settings, metadata);
      },
      .result_mesh = part_mesh,
  };
}

}  // namespace sidestream
