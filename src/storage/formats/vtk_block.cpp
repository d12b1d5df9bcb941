#include "storage/formats/vtk_block.hpp"

#include <fmt/format.h>

#include "storage/formats/vtk_fields.hpp"

namespace sidestream {

namespace {

const UniformGeometry* uniform_of(const Mesh& mesh) noexcept {
  return dynamic_cast<const UniformGeometry*>(mesh.geometry.get());
}

/// VTK's name and file ending for a kind of mesh.
struct Form {
  std::string_view name, ending;
};

Form form_of(const Mesh& mesh) {
  switch (mesh.kind()) {
    case MeshKind::uniform:
      return {"ImageData", "vti"};
    case MeshKind::rectilinear:
      return {"RectilinearGrid", "vtr"};
    case MeshKind::curvilinear:
      return {"StructuredGrid", "vts"};
    case MeshKind::unstructured:
    case MeshKind::octree:
      return {"UnstructuredGrid", "vtu"};
    case MeshKind::points:
      return {"PolyData", "vtp"};
    default:
      return {};
  }
}

/// The extent and, for uniform meshes, the origin and spacing of the level.
std::string grid_attributes(const Mesh& mesh, const Box& cells, std::int32_t level) {
  if (mesh.is_list()) return {};
  std::string text = fmt::format(" WholeExtent=\"{}\"", vtk_extent(cells, mesh.dimensions));
  if (const auto* uniform = uniform_of(mesh)) {
    const Index3 ratio = mesh.ratio_to(level);
    std::array<double, 3> spacing = uniform->spacing();
    for (std::size_t a = 0; a < 3; ++a) spacing[a] /= static_cast<double>(ratio[a]);
    text += fmt::format(" Origin=\"{}\" Spacing=\"{}\"", fmt::join(uniform->origin(), " "), fmt::join(spacing, " "));
  }
  return text;
}

std::string piece_attributes(const Mesh& mesh, const Block& block) {
  if (!mesh.is_list()) return fmt::format(" Extent=\"{}\"", vtk_extent(block.cells, mesh.dimensions));
  if (mesh.kind() == MeshKind::octree) {
    return fmt::format(" NumberOfPoints=\"{}\" NumberOfCells=\"{}\"",
                       block.cells.hi[0] * vtk_tree_corners(mesh.dimensions), block.cells.hi[0]);
  }
  return fmt::format(" NumberOfPoints=\"{}\" {}=\"{}\"", block.lengths.points,
                     mesh.kind() == MeshKind::points ? "NumberOfVerts" : "NumberOfCells", block.cells.hi[0]);
}

void write_axes(OutputFile& file, const Mesh& mesh, const Box& cells, VtkCompression compression) {
  constexpr const char* names[3] = {"x", "y", "z"};
  file.write("<Coordinates>\n");
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> nodes;
    const Index last = axis < mesh.dimensions ? cells.hi[axis] : cells.lo[axis];
    for (Index n = cells.lo[axis]; n <= last; ++n) nodes.push_back(mesh.geometry->axes()->node(axis, n));
    write_vtk_array(file, names[axis], Type::float64, 1, std::span<const double>(nodes), compression);
  }
  file.write("</Coordinates>\n");
}

void write_structure(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression) {
  if (mesh.kind() == MeshKind::rectilinear) write_axes(file, mesh, block.block.cells, compression);
  if (mesh.kind() < MeshKind::curvilinear) return;
  if (mesh.kind() == MeshKind::octree) return write_vtk_tree(file, mesh, block, compression);
  write_vtk_points(file, block, compression);
  if (mesh.kind() == MeshKind::unstructured) write_vtk_cells(file, mesh, block, compression);
  if (mesh.kind() == MeshKind::points) write_vtk_verts(file, block.block.lengths.points, compression);
}

void declare_structure(OutputFile& file, const Mesh& mesh, const std::vector<VtkVariable>& variables) {
  if (mesh.kind() == MeshKind::rectilinear) {
    file.write("<PCoordinates>\n");
    for (const char* name : {"x", "y", "z"}) {
      file.write(fmt::format("<PDataArray type=\"Float64\" Name=\"{}\"/>\n", name));
    }
    file.write("</PCoordinates>\n");
  }
  if (mesh.kind() == MeshKind::octree) {
    file.write("<PPoints>\n<PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>\n</PPoints>\n");
  }
  for (const auto& [variable, form] : variables) {
    if (variable->role != Role::coordinates) continue;
    file.write(
        fmt::format("<PPoints>\n<PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"3\"/>\n"
                    "</PPoints>\n",
                    vtk_type_name(variable->type), xml_escaped(variable->name)));
  }
}

/// Writes each level as a block and its blocks as data sets. Levels without blocks are written, too: VTK's reader stops
/// at a missing number.
void write_levels(OutputFile& file, const std::vector<VtkPiece>& pieces) {
  file.write("<vtkMultiBlockDataSet>\n");
  const std::int32_t levels = pieces.empty() ? 0 : pieces.back().block.level + 1;
  auto piece = pieces.begin();
  for (std::int32_t level = 0; level < levels; ++level) {
    file.write(fmt::format("<Block index=\"{0}\" name=\"level {0}\">\n", level));
    for (int number = 0; piece != pieces.end() && piece->block.level == level; ++piece) {
      file.write(fmt::format("<DataSet index=\"{}\" name=\"block {}\" file=\"{}\"/>\n", number++, piece->block.id,
                             xml_escaped(piece->source)));
    }
    file.write("</Block>\n");
  }
  file.write("</vtkMultiBlockDataSet>\n");
}

}  // namespace

std::string why_not_vtk(const Mesh& mesh) {
  if (form_of(mesh).name.empty()) {
    return fmt::format("of type {}, for which VTK has no form here", mesh.geometry ? mesh.geometry->kind() : "unknown");
  }
  // Nodes of finer levels that lie between nodes of level 0 are unknown.
  if (!mesh.refinement.empty() && mesh.kind() == MeshKind::rectilinear) {
    return "which is rectilinear and has refinement levels, so that it is not known where the nodes of finer levels "
           "lie";
  }
  return {};
}

std::string vtk_block_ending(const Mesh& mesh) { return fmt::format(".{}", form_of(mesh).ending); }

std::string vtk_list_ending(const Mesh& mesh) {
  return mesh.refinement.empty() ? fmt::format(".p{}", form_of(mesh).ending) : ".vtm";
}

bool vtk_wants_all_cells(const Mesh& mesh) noexcept { return !mesh.is_list() && mesh.refinement.empty(); }

bool has_structure(const Mesh& mesh, const VtkBlock& block) noexcept {
  for (const Role role : {Role::coordinates, Role::connectivity, Role::offsets, Role::types, Role::faces,
                          Role::face_offsets, Role::refined}) {
    if (mesh.array(role) < 0 || block.of(role) != nullptr) continue;
    // Lists without entries have no values.
    if (!points_of(role == Role::coordinates ? nodes_of(mesh.dimensions) : Centering::cell, role, block.block).empty())
      return false;
  }
  return true;
}

void write_vtk_block(const std::string& path, const Mesh& mesh, const VtkBlock& block, const Iteration& iteration,
                     const std::string& provenance, VtkCompression compression, std::span<const double> level_times) {
  OutputFile file(path);
  const std::string_view name = form_of(mesh).name;
  write_vtk_head(file, name, provenance, compression);
  file.write(fmt::format("<{}{}>\n", name, grid_attributes(mesh, block.block.cells, block.block.level)));
  write_vtk_iteration(file, iteration, level_times);
  file.write(fmt::format("<Piece{}>\n", piece_attributes(mesh, block.block)));
  write_vtk_fields(file, mesh, block, compression);
  write_structure(file, mesh, block, compression);
  file.write(fmt::format("</Piece>\n</{}>\n", name));
  write_vtk_tail(file);
  file.close();
}

void write_vtk_list(const std::string& path, const Mesh& mesh, const std::vector<VtkVariable>& variables,
                    const std::vector<VtkPiece>& pieces, const Iteration& iteration, const std::string& provenance,
                    std::span<const double> level_times) {
  OutputFile file(path);
  if (!mesh.refinement.empty()) {
    write_vtk_head(file, "vtkMultiBlockDataSet", provenance);
    write_levels(file, pieces);
  } else {
    const std::string name = fmt::format("P{}", form_of(mesh).name);
    write_vtk_head(file, name, provenance);
    file.write(fmt::format("<{}{} GhostLevel=\"0\">\n", name, grid_attributes(mesh, mesh.cells, 0)));
    write_vtk_iteration(file, iteration, level_times);
    declare_vtk_fields(file, mesh, variables);
    declare_structure(file, mesh, variables);
    for (const VtkPiece& piece : pieces) {
      const std::string where = mesh.is_list() ? std::string() : piece_attributes(mesh, piece.block);
      file.write(fmt::format("<Piece{} Source=\"{}\"/>\n", where, xml_escaped(piece.source)));
    }
    file.write(fmt::format("</{}>\n", name));
  }
  write_vtk_tail(file);
  file.close();
}

}  // namespace sidestream
