// Surfaces where a variable has given values.
#include <fmt/format.h>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/contour/surface_shares.hpp"
#include "visualisation/extract/extract.hpp"
#include "visualisation/extract/level_surfaces.hpp"
#include "visualisation/kinds.hpp"

namespace sidestream {
namespace {

class Isosurface final : public Task {
 public:
  Isosurface(IsosurfaceQuery query, const Metadata& metadata, SurfaceFile file)
      : query_(std::move(query)),
        seen_(query_.variable, query_.component),
        selection_(selection_of(query_, metadata)),
        file_(std::move(file)),
        notice_(file_.name),
        empty_(file_.name) {
    selection_.variables.push_back(seen_.entry());
    file_.shape = {layout_of(query_, metadata), query_.normals, query_.values,
                   query_.single ? Type::float32 : Type::float64};
  }

  Selection selection() const override { return selection_; }
  int passes() const override { return passes_of(query_); }
  Bytes local(const LocalInput& input) override {
    if (query_.in_levels) {
      LevelPieces found = extract_from_levels(query_, input);
      LayerRims rims(1);
      rims.add(0, std::move(found.rims));
      return rims.with(pieces_.give(std::move(found.pieces), input));
    }
    if (input.pass + 1 < passes()) return seams(query_, input);
    return pieces_.give(extract(query_, input), input);
  }
  Bytes combine(const CombineInput& input) override {
    if (query_.in_levels) return combine_levels(input);
    if (input.pass + 1 < passes()) return joined(query_, input, found_);
    add(pieces_.take(input), input);
    return {};
  }
  void discard(const Iteration&) noexcept override {
    pieces_.drop();
    seen_.forget();
  }

 private:
  Bytes combine_levels(const CombineInput& input) {
    LayerRims rims(1);
    std::vector<Piece> pieces = pieces_.take(input, rims.split(input.partials));
    const std::size_t between = pieces.size();
    for (Piece& piece : pieces_between(query_, input.metadata, rims.of(0), input.communicator)) {
      pieces.push_back(std::move(piece));
    }
    if (query_.normals) add_normals(query_, input.metadata, rims.of(0), pieces, between, input.communicator);
    add(std::move(pieces), input);
    return {};
  }
  void add(std::vector<Piece> pieces, const CombineInput& input) {
    empty_.look(count_cells(pieces, query_.values.size()), input,
                [&](const auto& absent) { return why_empty(query_, absent, seen_, input); });
    seen_.forget();
    notice_.tell(add_surface(file_, std::move(pieces), input));
  }

  IsosurfaceQuery query_;
  SeenValues seen_;
  Selection selection_;
  SurfaceFile file_;
  Bytes found_;  ///< found by earlier passes
  LocalPieces pieces_;
  RepeatedPointsNotice notice_;
  EmptyNotice empty_;
};

}  // namespace

std::string why_empty(const IsosurfaceQuery& query, const std::vector<std::size_t>& values, const SeenValues& seen,
                      const CombineInput& input) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variable));
  std::vector<double> absent;
  for (const std::size_t value : values) absent.push_back(query.values.at(value));
  return fmt::format("no surface of '{}' has the value {}; {}", variable.name, fmt::join(absent, ", "),
                     seen.text(input));
}

/// The surface with its data at points.
static ResultMesh surface_mesh(const Settings& settings, const Metadata& metadata) {
  std::vector<Variable> variables;
  for (const std::string& name : settings.texts("fields")) {
    variables.push_back(result_variable(*metadata.find_variable(name), Centering::node));
  }
  const Variable& variable = *metadata.find_variable(settings.text("variable"));
  Variable value;
  value.name = "value";
  value.unit = variable.unit;
  value.centering = Centering::node;
  variables.push_back(value);
  return result_surface(std::move(variables));
}

AnalysisKind isosurface_kind() {
  std::vector<Option> options = isosurface_options();
  options.push_back(file_option("isosurface-{index:05}.vtp", "The triangles, one file per iteration."));
  options.push_back(pieces_option());
  return {
      .name = "isosurface",
      .text =
          "Surfaces on which one component of a variable has given values, as triangles (marching cubes) with the "
          "point data `value`, `normals` and the variables in `fields`. Surfaces of cell-centred variables run "
          "through cell centres, and so end half a cell before the faces of the mesh. They are closed across blocks, "
          "whether or not the simulation publishes ghosts: every edge has two triangles, except at the border of the "
          "mesh and next to values that are NaN or infinite, where there is no surface. A point whose value equals "
          "that of the surface counts as above it; triangles there may have no area, but the surface stays closed. "
          "Triangles are counter-clockwise seen from lower values, to which normals point. A field of the other "
          "centring is averaged to the variable's points first. In a mesh of two dimensions they are contour lines, "
          "with lower values on their right. In unstructured meshes a variable in cells is first averaged to the "
          "points, over the cells around each; normals must be requested, and come from the mean gradient of those "
          "cells; `fields` must lie at points; surfaces are closed across blocks if the mesh has `point_ids` "
          "(docs/mesh-kinds.md). In octrees and on refinement levels of uniform meshes, values at nodes are first "
          "averaged to the cells, and surfaces are also closed across levels; normals must be requested, and are the "
          "means over the triangles around each point (docs/adaptive-meshes.md).",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Isosurface>(read_isosurface(settings, metadata), metadata,
                                            SurfaceFile{settings.text("file"), read_pieces(settings)});
      },
      .result_mesh = surface_mesh,
  };
}

}  // namespace sidestream
