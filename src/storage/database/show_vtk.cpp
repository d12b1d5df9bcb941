// The group VTKHDF of the HDF5 file that shows a context. The format is VTKHDF 2: docs.vtk.org, "VTKHDF File Format".
//
// 1. as_what: an image for uniform meshes, cells or points for lists whose arrays exist on the same blocks; other
//    meshes are left out.
// 2. One mesh is the group itself; several become parts of an assembly.
// 3. Values are links to the file's own arrays. Only offsets, and coordinates of fewer than three components, need
//    virtual arrays of their own.
#include "storage/database/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "storage/hdf5/hdf5_layout.hpp"

namespace sidestream::database {

namespace {

using Numbers = std::vector<std::int64_t>;

enum class As { nothing, image, cells, points };

const Variable& with_role(const Metadata& metadata, const Mesh& mesh, Role role) {
  return metadata.variables[static_cast<std::size_t>(mesh.array(role))];
}

bool same_blocks(const std::vector<Shown>& a, const std::vector<Shown>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Shown& x, const Shown& y) { return x.id == y.id; });
}

class VtkHdfGroup {
 public:
  VtkHdfGroup(const Metadata& metadata, const ShownPieces& pieces, const Iteration& iteration)
      : metadata_(metadata), pieces_(pieces), iteration_(iteration) {}

  void write(hdf5::Group& root) {
    std::vector<const Mesh*> meshes;
    for (const Mesh& mesh : metadata_.meshes) {
      if (as_what(mesh) != As::nothing) meshes.push_back(&mesh);
    }
    if (meshes.empty()) return;
    hdf5::Group vtk = root.ordered_group("VTKHDF");
    if (meshes.size() == 1) return show(vtk, *meshes.front());
    describe(vtk, "PartitionedDataSetCollection");
    hdf5::Group assembly = vtk.ordered_group("Assembly");
    for (std::size_t n = 0; n < meshes.size(); ++n) {
      // The name of a part must not look like a path.
      std::string name = meshes[n]->name;
      std::replace(name.begin(), name.end(), '/', '_');
      hdf5::Group part = vtk.ordered_group(name);
      part.set("Index", static_cast<std::int64_t>(n));
      show(part, *meshes[n]);
      assembly.soft_link(name, fmt::format("/VTKHDF/{}", name));
    }
  }

 private:
  [[nodiscard]] const std::vector<Shown>* pieces_of(std::int32_t variable) const {
    const auto found = pieces_.find(variable);
    return found == pieces_.end() ? nullptr : &found->second;
  }

  /// True if arrays of all these roles exist, on the same blocks.
  [[nodiscard]] bool has(const Mesh& mesh, std::initializer_list<Role> roles) const {
    const std::vector<Shown>* first = nullptr;
    for (const Role role : roles) {
      const std::vector<Shown>* pieces = mesh.array(role) < 0 ? nullptr : pieces_of(mesh.array(role));
      if (pieces == nullptr || (first != nullptr && !same_blocks(*first, *pieces))) return false;
      if (first == nullptr) first = pieces;
    }
    return true;
  }

  [[nodiscard]] As as_what(const Mesh& mesh) const {
    const bool any = std::any_of(metadata_.variables.begin(), metadata_.variables.end(),
                                 [&](const Variable& v) { return v.mesh == mesh.id && pieces_of(v.id) != nullptr; });
    if (!any) return As::nothing;
    if (mesh.kind() == MeshKind::uniform) return As::image;
    if (!mesh.is_list() || mesh.kind() == MeshKind::octree || !has(mesh, {Role::coordinates})) return As::nothing;
    if (!is_real(with_role(metadata_, mesh, Role::coordinates).type)) return As::nothing;
    if (mesh.kind() == MeshKind::points) return As::points;
    const bool cells = mesh.array(Role::faces) < 0 &&
                       has(mesh, {Role::coordinates, Role::connectivity, Role::offsets, Role::types}) &&
                       with_role(metadata_, mesh, Role::types).type == Type::uint8;
    return cells ? As::cells : As::nothing;
  }

  static bool is_real(Type type) { return type == Type::float32 || type == Type::float64; }

  void describe(hdf5::Group& group, const std::string& type) const {
    group.set("Version", std::span<const std::int64_t>(std::array<std::int64_t, 2>{2, 2}));
    group.set_ascii("Type", type);
  }

  void show(hdf5::Group& group, const Mesh& mesh) const {
    const As what = as_what(mesh);
    describe(group, what == As::image ? "ImageData" : "UnstructuredGrid");
    if (what == As::image) {
      place_image(group, mesh);
    } else {
      place_points(group, mesh);
      place_cells(group, mesh, what == As::cells);
    }
    hdf5::Group in_cells = group.ordered_group("CellData"), at_points = group.ordered_group("PointData");
    for (const Variable& variable : metadata_.variables) {
      if (variable.mesh != mesh.id || pieces_of(variable.id) == nullptr) continue;
      const int where = place_of(variable, mesh, what);
      if (where >= 0)
        (where == 0 ? in_cells : at_points).link(variable.name, fmt::format("/{}", variable_path(variable)));
    }
    hdf5::Group about = group.ordered_group("FieldData");
    write_one(about, "TimeValue", iteration_.time);
    write_numbers(about, "CYCLE", {iteration_.cycle});
  }

  /// Placement for VTK: 0: in cells, 1: at points, -1: VTK has no such values, or another layout.
  [[nodiscard]] int place_of(const Variable& variable, const Mesh& mesh, As what) const {
    if (what == As::image) {
      if (variable.order != Order::column && mesh.dimensions > 1) return -1;
      // An image of owned points ends at the last point of periodic axes, one cell before the mesh does.
      const Centering nodes = nodes_of(mesh.dimensions);
      if (variable.centering == Centering::cell) return mesh.points(nodes) == points_of(nodes, mesh.cells) ? 0 : -1;
      return variable.centering == nodes_of(mesh.dimensions) ? 1 : -1;
    }
    const bool places =
        variable.role != Role::none && variable.role != Role::point_ids && variable.role != Role::cell_ids;
    const std::vector<Shown>& here = *pieces_of(variable.id);
    if (places || !same_blocks(here, *pieces_of(mesh.array(Role::coordinates)))) return -1;
    return what == As::points || variable.centering != Centering::cell ? 1 : 0;
  }

  void place_image(hdf5::Group& group, const Mesh& mesh) const {
    const auto& geometry = dynamic_cast<const UniformGeometry&>(*mesh.geometry);
    Numbers extent;
    for (std::size_t a = 0; a < 3; ++a) {
      extent.push_back(mesh.cells.lo[a]);
      const Index last = mesh.points(nodes_of(mesh.dimensions)).hi[a] - 1;
      extent.push_back(static_cast<int>(a) < mesh.dimensions ? last : mesh.cells.lo[a]);
    }
    group.set("WholeExtent", std::span<const std::int64_t>(extent));
    group.set("Origin", std::span<const double>(geometry.origin()));
    group.set("Spacing", std::span<const double>(geometry.spacing()));
    group.set("Direction", std::span<const double>(std::array<double, 9>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  }

  /// Length of the variable's list on each block.
  static Numbers lengths_of(const std::vector<Shown>& pieces) {
    Numbers lengths;
    for (const Shown& piece : pieces) lengths.push_back(piece.points.extent(0));
    return lengths;
  }

  /// Writes points: a link if there are three coordinates; otherwise an array with zeros for the missing ones.
  void place_points(hdf5::Group& group, const Mesh& mesh) const {
    const Variable& coordinates = with_role(metadata_, mesh, Role::coordinates);
    const std::vector<Shown>& pieces = *pieces_of(coordinates.id);
    const Numbers lengths = lengths_of(pieces);
    write_numbers(group, "NumberOfPoints", lengths);
    if (coordinates.components == 3) return group.link("Points", fmt::format("/{}", variable_path(coordinates)));
    const auto width = static_cast<hsize_t>(coordinates.components);
    std::vector<hdf5::VirtualPart> parts;
    hsize_t begin = 0;
    for (const Shown& piece : pieces) {
      const auto count = static_cast<hsize_t>(piece.points.extent(0));
      if (count > 0) parts.push_back(part(piece, coordinates.type, {{begin, 0}, {count, width}}, count * width));
      begin += count;
    }
    static_cast<void>(group.virtual_dataset("Points", coordinates.type, {begin, 3}, parts, hdf5::Fill::zero));
  }

  static hdf5::VirtualPart part(const Shown& piece, Type type, hdf5::Part here, hsize_t count) {
    return {std::move(here), piece.file, fmt::format("/{}", name_of(type)), {piece.length}, {{piece.first}, {count}}};
  }

  /// Writes cells. VTK's offsets have a leading 0 on each block. No part of the virtual array covers it, so it reads as
  /// the fill value 0. Numbers in the connectivity count the points of their block, as in our meshes.
  void place_cells(hdf5::Group& group, const Mesh& mesh, bool has_cells) const {
    const auto blocks = pieces_of(mesh.array(Role::coordinates))->size();
    if (!has_cells) {
      for (const char* name : {"NumberOfCells", "NumberOfConnectivityIds", "Offsets"})
        write_numbers(group, name, Numbers(blocks, 0));
      write_numbers(group, "Connectivity", {});
      static_cast<void>(group.dataset("Types", Type::uint8, {0}, {}));
      return;
    }
    const Variable& connectivity = with_role(metadata_, mesh, Role::connectivity);
    const Variable& offsets = with_role(metadata_, mesh, Role::offsets);
    const std::vector<Shown>& ends = *pieces_of(offsets.id);
    write_numbers(group, "NumberOfCells", lengths_of(ends));
    write_numbers(group, "NumberOfConnectivityIds", lengths_of(*pieces_of(connectivity.id)));
    group.link("Connectivity", fmt::format("/{}", variable_path(connectivity)));
    group.link("Types", fmt::format("/{}", variable_path(with_role(metadata_, mesh, Role::types))));
    std::vector<hdf5::VirtualPart> parts;
    hsize_t begin = 0;
    for (const Shown& piece : ends) {
      const auto count = static_cast<hsize_t>(piece.points.extent(0));
      if (count > 0) parts.push_back(part(piece, offsets.type, {{begin + 1}, {count}}, count));
      begin += count + 1;
    }
    static_cast<void>(group.virtual_dataset("Offsets", offsets.type, {begin}, parts, hdf5::Fill::zero));
  }

  static void write_numbers(hdf5::Group& group, const std::string& name, const Numbers& values) {
    hdf5::Dataset dataset = group.dataset(name, Type::int64, {values.size()}, {});
    if (!values.empty()) dataset.write(Type::int64, {{0}, {values.size()}}, std::as_bytes(std::span(values)));
  }

  static void write_one(hdf5::Group& group, const std::string& name, double value) {
    hdf5::Dataset dataset = group.dataset(name, Type::float64, {1}, {});
    dataset.write(Type::float64, {{0}, {1}}, std::as_bytes(std::span(&value, 1)));
  }

  const Metadata& metadata_;
  const ShownPieces& pieces_;
  const Iteration& iteration_;
};

}  // namespace

void show_to_vtk(hdf5::Group& root, const Metadata& metadata, const ShownPieces& pieces, const Iteration& iteration) {
  VtkHdfGroup(metadata, pieces, iteration).write(root);
}

}  // namespace sidestream::database
