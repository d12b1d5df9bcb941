// A plane through a mesh, with variables on it.
#include <fmt/format.h>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/contour/surface_shares.hpp"
#include "visualisation/extract/extract.hpp"
#include "visualisation/kinds.hpp"

namespace sidestream {
namespace {

class Slice final : public Task {
 public:
  Slice(SliceQuery query, const Metadata& metadata, SurfaceFile file)
      : query_(std::move(query)),
        selection_(selection_of(query_, metadata)),
        file_(std::move(file)),
        notice_(file_.name),
        empty_(file_.name) {
    file_.shape.layout = layout_of(query_, metadata);
    if (query_.single) file_.shape.coordinates = Type::float32;
  }

  Selection selection() const override { return selection_; }
  Bytes local(const LocalInput& input) override { return pieces_.give(extract(query_, input), input); }
  Bytes combine(const CombineInput& input) override {
    std::vector<Piece> pieces = pieces_.take(input);
    empty_.look(count_cells(pieces, 1), input, [&](const auto&) { return why_empty(query_, input); });
    notice_.tell(add_surface(file_, std::move(pieces), input));
    return {};
  }
  void discard(const Iteration&) noexcept override { pieces_.drop(); }

 private:
  SliceQuery query_;
  Selection selection_;
  SurfaceFile file_;
  LocalPieces pieces_;
  RepeatedPointsNotice notice_;
  EmptyNotice empty_;
};

}  // namespace

std::string why_empty(const SliceQuery& query, const CombineInput& input) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variables.front()));
  const Mesh& mesh = input.metadata.mesh_of(variable);
  return fmt::format("the plane meets no cell of the mesh '{}'; {}", mesh.name, reach_text(mesh, input));
}

/// The section with its data at points.
static ResultMesh section_mesh(const Settings& settings, const Metadata& metadata) {
  std::vector<Variable> variables;
  for (const std::int32_t id : read_slice(settings, metadata).variables) {
    variables.push_back(result_variable(metadata.variables.at(static_cast<std::size_t>(id)), Centering::node));
  }
  return result_surface(std::move(variables));
}

AnalysisKind slice_kind() {
  std::vector<Option> options = slice_options();
  options.push_back(file_option("slice-{index:05}.vtp", "The triangles, one file per iteration."));
  options.push_back(pieces_option());
  return {
      .name = "slice",
      .text =
          "Cuts a plane of any direction through a mesh of three dimensions and writes it as triangles with the "
          "variables at their corners, interpolated linearly between the mesh's points. Cell-centred values belong "
          "to cell centres and are constant in the outer half of the outermost cells, so that the slice reaches the "
          "faces of the mesh. A plane that lies in a face of cells, or in an outer face of the mesh, gives one layer "
          "of triangles. Triangles are counter-clockwise seen from the side to which the normal points. Data are NaN "
          "where no value was delivered. A mesh of two dimensions is cut into lines, and with `axis: z` drawn as a "
          "plane. For curvilinear and unstructured meshes `position` or `origin` must be given; variables in the "
          "cells of an unstructured mesh have each cell's own value (docs/mesh-kinds.md). On octrees and refinement "
          "levels, and with `cells: own`, each cell is a separate polygon with its own value up to its faces "
          "(docs/adaptive-meshes.md).",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Slice>(read_slice(settings, metadata), metadata,
                                       SurfaceFile{settings.text("file"), read_pieces(settings)});
      },
      .result_mesh = section_mesh,
  };
}

}  // namespace sidestream
