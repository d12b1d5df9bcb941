#include "analyse/contents.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/mesh_arrays.hpp"

namespace sidestream::analysing {

namespace {

std::string line_of(const Mesh& mesh) {
  std::string text = fmt::format("mesh {}: {}", mesh.name, mesh.geometry ? mesh.geometry->kind() : "without a kind");
  if (mesh.is_list()) return text + fmt::format(", {} dimensions\n", mesh.dimensions);
  text += ", ";
  for (int a = 0; a < mesh.dimensions; ++a) text += fmt::format("{}{}", a > 0 ? " x " : "", mesh.cells.extent(a));
  text += " cells";
  if (!mesh.refinement.empty()) text += fmt::format(", {} levels", mesh.refinement.size() + 1);
  std::string axes;
  for (std::size_t a = 0; a < 3; ++a) axes += mesh.periodic[a] ? std::string(1, "xyz"[a]) : std::string();
  return text + (axes.empty() ? "" : ", periodic along " + axes) + "\n";
}

std::string line_of(const Variable& variable, const Mesh& mesh) {
  const std::string type = variable.components == 1
                               ? std::string(name_of(variable.type))
                               : fmt::format("{} x {}", name_of(variable.type), variable.components);
  std::string text = fmt::format("  {:<24} {}", variable.name, type);
  // Particles have no cells different from their points.
  if (mesh.kind() != MeshKind::points) text += fmt::format(", {}", name_of(variable.centering, mesh.dimensions));
  if (!variable.unit.empty()) text += ", " + variable.unit;
  if (variable.role != Role::none) text += fmt::format(", {} of the mesh", name_of(variable.role));
  return text + "\n";
}

}  // namespace

std::string contents_of(const StoredIterations& iterations, const Metadata& metadata) {
  const auto cycles = std::minmax_element(iterations.begin(), iterations.end(),
                                          [](const auto& a, const auto& b) { return a.when.cycle < b.when.cycle; });
  const auto times = std::minmax_element(iterations.begin(), iterations.end(),
                                         [](const auto& a, const auto& b) { return a.when.time < b.when.time; });
  std::string text =
      iterations.size() == 1
          ? fmt::format("1 iteration, cycle {}, time {}\n", iterations[0].when.cycle, iterations[0].when.time)
          : fmt::format("{} iterations, cycles {} to {}, times {} to {}\n", iterations.size(), cycles.first->when.cycle,
                        cycles.second->when.cycle, times.first->when.time, times.second->when.time);
  for (const Mesh& mesh : metadata.meshes) {
    text += line_of(mesh);
    for (const Variable& variable : metadata.variables) {
      if (variable.mesh == mesh.id) text += line_of(variable, mesh);
    }
  }
  return text;
}

}  // namespace sidestream::analysing
