// The C++ interface: blocks, and the kinds of meshes whose geometry is in arrays.
#include <algorithm>
#include <optional>

#include "data/owned_points.hpp"
#include "session/c/as_error.hpp"
#include "session/implementation.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

Mesh mesh_of(const std::string& name, MeshKind kind, int dimensions) {
  if (dimensions < 1 || dimensions > 3) {
    fail(Code::usage, "the mesh '{}' has {} dimensions, expected 1, 2 or 3", name, dimensions);
  }
  Mesh mesh;
  mesh.name = name;
  mesh.dimensions = dimensions;
  mesh.geometry = std::make_shared<ArrayGeometry>(kind);
  return mesh;
}

void set_periodic_of(Mesh& mesh, const std::array<bool, 3>& periodic) {
  for (int a = mesh.dimensions; a < 3; ++a) {
    if (!periodic[static_cast<std::size_t>(a)]) continue;
    fail(Code::usage, "set_periodic: axis {} of the mesh '{}' of {} dimensions, expected axes that it has", a,
         mesh.name, mesh.dimensions);
  }
  set_periodic_axes(mesh, periodic);
}

void set_refinement_of(Mesh& mesh, const std::vector<Index3>& ratios) {
  if (mesh.is_list()) {
    fail(Code::usage, "set_refinement: the mesh '{}' is {}, whose blocks are lists on one level", mesh.name,
         mesh.geometry->kind());
  }
  if (mesh.owned_points && !ratios.empty()) {
    fail(Code::usage,
         "set_refinement: the mesh '{}' has points of its blocks only (set_owned_points), expected one level",
         mesh.name);
  }
  constexpr std::size_t most_steps = 30;
  if (ratios.size() > most_steps) {
    fail(Code::usage, "set_refinement: {} steps for the mesh '{}', expected at most {}", ratios.size(), mesh.name,
         most_steps);
  }
  for (const Index3& ratio : ratios) {
    for (std::size_t a = 0; a < 3; ++a) {
      const bool used = a < static_cast<std::size_t>(mesh.dimensions);
      if (ratio[a] >= 1 && ratio[a] <= (used ? 1024 : 1)) continue;
      fail(Code::usage, "set_refinement: the ratio {} along axis {} of the mesh '{}', expected {}", ratio[a], a,
           mesh.name, used ? "1 to 1024" : "1 on an axis that it does not use");
    }
  }
  mesh.refinement = ratios;
}

}  // namespace

void Session::add_curvilinear_mesh(const std::string& name, const std::vector<Index>& size,
                                   const std::string& coordinates) try {
  Declarations& declarations = declaring(implementation_, "add_curvilinear_mesh");
  Mesh mesh = mesh_of(name, MeshKind::curvilinear, static_cast<int>(size.size()));
  mesh.cells.hi = {1, 1, 1};
  for (std::size_t a = 0; a < size.size(); ++a) {
    if (size[a] < 1) fail(Code::usage, "the mesh '{}' has {} cells on axis {}, expected at least 1", name, size[a], a);
    mesh.cells.hi[a] = size[a];
  }
  declarations.add_mesh(std::move(mesh));
  declarations.add_array(name, Role::coordinates, coordinates);
} catch (...) {
  rethrow_as_error("add_curvilinear_mesh");
}

void Session::add_unstructured_mesh(const std::string& name, int dimensions, const std::string& coordinates,
                                    const std::string& connectivity, const std::string& offsets,
                                    const std::string& types) try {
  Declarations& declarations = declaring(implementation_, "add_unstructured_mesh");
  declarations.add_mesh(mesh_of(name, MeshKind::unstructured, dimensions));
  declarations.add_array(name, Role::coordinates, coordinates);
  declarations.add_array(name, Role::connectivity, connectivity);
  declarations.add_array(name, Role::offsets, offsets);
  declarations.add_array(name, Role::types, types);
} catch (...) {
  rethrow_as_error("add_unstructured_mesh");
}

void Session::add_points_mesh(const std::string& name, int dimensions, const std::string& coordinates) try {
  Declarations& declarations = declaring(implementation_, "add_points_mesh");
  declarations.add_mesh(mesh_of(name, MeshKind::points, dimensions));
  declarations.add_array(name, Role::coordinates, coordinates);
} catch (...) {
  rethrow_as_error("add_points_mesh");
}

void Session::add_octree_mesh(const std::string& name, const std::vector<Index>& roots,
                              const std::vector<double>& origin, const std::vector<double>& spacing,
                              const std::string& refined) try {
  Declarations& declarations = declaring(implementation_, "add_octree_mesh");
  const std::size_t dimensions = roots.size();
  Mesh mesh = mesh_of(name, MeshKind::octree, static_cast<int>(dimensions));
  if (origin.size() != dimensions || spacing.size() != dimensions) {
    fail(Code::usage, "the mesh '{}' has {} entries of roots, {} of origin and {} of spacing; expected as many of each",
         name, dimensions, origin.size(), spacing.size());
  }
  Index3 count{1, 1, 1};
  std::array<double, 3> first{}, size{1, 1, 1};
  for (std::size_t a = 0; a < dimensions; ++a) {
    if (roots[a] < 1 || !(spacing[a] > 0)) {
      fail(Code::usage, "the mesh '{}' has {} root cells of the size {} on axis {}, expected at least 1, and above 0",
           name, roots[a], spacing[a], a);
    }
    count[a] = roots[a], first[a] = origin[a], size[a] = spacing[a];
  }
  mesh.geometry = std::make_shared<OctreeGeometry>(count, first, size);
  declarations.add_mesh(std::move(mesh));
  declarations.add_array(name, Role::refined, refined);
} catch (...) {
  rethrow_as_error("add_octree_mesh");
}

void Session::add_spectral_mesh(const std::string& name, int dimensions, bool continuous) try {
  Declarations& declarations = declaring(implementation_, "add_spectral_mesh");
  const SpectralNames names(name);  // of the variables, the same as in sidestream.h
  declarations.add_mesh(mesh_of(name, MeshKind::unstructured, dimensions));
  const auto add = [&](const std::string& variable, Type type, int components, std::optional<Role> role) {
    Variable one;
    one.name = variable;
    one.type = type;
    one.components = components;
    one.centering = Centering::node;
    one.time_varying = false;
    declarations.add_variable(name, one);
    if (role) declarations.add_array(name, *role, variable);
  };
  add(names.place, Type::float64, dimensions, Role::coordinates);
  add(names.corners, Type::int32, 1, Role::connectivity);
  add(names.ends, Type::int32, 1, Role::offsets);
  add(names.kinds, Type::uint8, 1, Role::types);
  if (continuous) add(names.number, Type::int64, 1, Role::point_ids);
  add(names.mass, Type::float64, 1, std::nullopt);
  declarations.spectral_meshes.push_back({name, dimensions, continuous});
} catch (...) {
  rethrow_as_error("add_spectral_mesh");
}

void Session::set_spectral_block(const std::string& mesh, std::int64_t block, int order, Index elements,
                                 const std::vector<const double*>& place, const std::int64_t* numbers) try {
  Declarations& declarations = declaring(implementation_, "set_spectral_block");
  const auto found = std::find_if(declarations.spectral_meshes.begin(), declarations.spectral_meshes.end(),
                                  [&](const SpectralMesh& one) { return one.name == mesh; });
  if (found == declarations.spectral_meshes.end()) {
    fail(Code::usage, "set_spectral_block: '{}' is no mesh of spectral elements; declare it by add_spectral_mesh first",
         mesh);
  }
  SpectralBlock elements_of = spectral_block(*found, block, order, elements, place, numbers);
  std::erase_if(declarations.spectral_blocks,
                [&](const SpectralBlock& one) { return one.mesh.name == mesh && one.id == block; });
  alive(implementation_, "set_spectral_block").set_block(mesh, list_of(elements_of));
  declarations.spectral_blocks.push_back(std::move(elements_of));
} catch (...) {
  rethrow_as_error("set_spectral_block");
}

void Session::set_mesh_array(const std::string& mesh, Role role, const std::string& variable) try {
  if (role == Role::none) fail(Code::usage, "set_mesh_array: '{}' is given no role on '{}'; name one", variable, mesh);
  declaring(implementation_, "set_mesh_array").add_array(mesh, role, variable);
} catch (...) {
  rethrow_as_error("set_mesh_array");
}

void Session::set_periodic(const std::string& name, const std::array<bool, 3>& periodic) try {
  declaring(implementation_, "set_periodic").change_mesh(name, "set_periodic", [periodic](Mesh& mesh) {
    set_periodic_of(mesh, periodic);
  });
} catch (...) {
  rethrow_as_error("set_periodic");
}

void Session::set_refinement(const std::string& name, const std::vector<Index3>& ratios) try {
  declaring(implementation_, "set_refinement").change_mesh(name, "set_refinement", [ratios](Mesh& mesh) {
    set_refinement_of(mesh, ratios);
  });
} catch (...) {
  rethrow_as_error("set_refinement");
}

void Session::set_fixed(const std::string& name) try {
  declaring(implementation_, "set_fixed").change_mesh(name, "set_fixed", [](Mesh& mesh) { mesh.fixed = true; });
} catch (...) {
  rethrow_as_error("set_fixed");
}

void Session::set_owned_points(const std::string& name) try {
  declaring(implementation_, "set_owned_points").change_declared_mesh(name, "set_owned_points", [](Mesh& mesh) {
    const std::string wrong = own_points(mesh);
    if (!wrong.empty()) fail(Code::usage, "set_owned_points: mesh '{}': {}", mesh.name, wrong);
  });
} catch (...) {
  rethrow_as_error("set_owned_points");
}

void Session::set_block(const std::string& mesh, std::int64_t block, const Box& cells, int level) try {
  Block wanted;
  wanted.id = block;
  wanted.level = level;
  wanted.cells = cells;
  alive(implementation_, "set_block").set_block(mesh, wanted);
} catch (...) {
  rethrow_as_error("set_block");
}

void Session::set_rectilinear_block(const std::string& mesh, std::int64_t block, const Box& cells,
                                    const std::vector<std::vector<double>>& nodes) try {
  Declarations& declarations = declaring(implementation_, "set_rectilinear_block");
  if (nodes.empty() || nodes.size() > 3) {
    fail(Code::usage, "set_rectilinear_block: nodes along {} axes for block {} of the mesh '{}', expected 1, 2 or 3",
         nodes.size(), block, mesh);
  }
  BlockAxes axes{mesh, static_cast<int>(nodes.size()), cells};
  std::copy(nodes.begin(), nodes.end(), axes.nodes.begin());
  check_axes(axes);
  set_block(mesh, block, cells);
  declarations.axes.push_back(std::move(axes));
} catch (...) {
  rethrow_as_error("set_rectilinear_block");
}

void Session::set_block_list(const std::string& mesh, std::int64_t block, Index cells, const ListLengths& lengths,
                             const Bounds& bounds) try {
  Block wanted;
  wanted.id = block;
  wanted.space = IndexSpace::list;
  wanted.cells = list_box(cells);
  wanted.lengths = lengths;
  wanted.bounds = bounds;
  alive(implementation_, "set_block_list").set_block(mesh, wanted);
} catch (...) {
  rethrow_as_error("set_block_list");
}

void Session::replace_blocks(const std::string& mesh, const std::vector<Block>& blocks) try {
  alive(implementation_, "replace_blocks").replace_blocks(mesh, blocks);
} catch (...) {
  rethrow_as_error("replace_blocks");
}

void Session::set_block_bounds(const std::string& mesh, std::int64_t block, const Bounds& bounds) try {
  alive(implementation_, "set_block_bounds").set_block_bounds(mesh, block, bounds);
} catch (...) {
  rethrow_as_error("set_block_bounds");
}

}  // namespace sidestream
