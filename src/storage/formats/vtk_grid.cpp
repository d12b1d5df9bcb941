#include "storage/formats/vtk_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "storage/slabs.hpp"

namespace sidestream {

namespace {

constexpr std::uint64_t copy_bytes = 4u << 20;

const UniformGeometry* uniform_of(const Mesh& mesh) noexcept {
  return dynamic_cast<const UniformGeometry*>(mesh.geometry.get());
}

std::string grid_name(const Mesh& mesh) { return uniform_of(mesh) != nullptr ? "ImageData" : "RectilinearGrid"; }

/// Attributes of the grid element: extent and, for uniform meshes, where it is.
std::string grid_attributes(const Mesh& mesh, const Box& cells) {
  std::string text = fmt::format("WholeExtent=\"{}\"", vtk_extent(cells, mesh.dimensions));
  if (const auto* uniform = uniform_of(mesh)) {
    text += fmt::format(" Origin=\"{}\" Spacing=\"{}\"", fmt::join(uniform->origin(), " "),
                        fmt::join(uniform->spacing(), " "));
  }
  return text;
}

/// Values of a block that did not come: nothing may be mistaken for data.
void append_missing(VtkArray& out, Type type, std::uint64_t count) {
  with_type(type, [&](auto value) {
    using T = decltype(value);
    if constexpr (std::numeric_limits<T>::has_quiet_NaN) value = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> part(std::min<std::uint64_t>(count, 4096), value);
    for (std::uint64_t left = count; left > 0; left -= std::min<std::uint64_t>(left, part.size())) {
      out.append(std::as_bytes(std::span(part).first(std::min<std::uint64_t>(left, part.size()))));
    }
  });
}

void write_values(OutputFile& file, const GridArray& array, const Box& cells, VtkCompression compression) {
  const Variable& variable = *array.variable;
  const Box points = variable.points(cells);
  VtkArray out(file, variable.name, variable.type, variable.components,
               packed_bytes(points, variable.components, variable.type), compression);
  if (array.values == nullptr) {
    append_missing(out, variable.type, static_cast<std::uint64_t>(points.count() * variable.components));
  } else {
    for_each_slab(array.values->array, points, Order::column, copy_bytes,
                  [&](std::span<const std::byte> values, const Box&) { out.append(values); });
  }
  out.finish();
}

void write_coordinates(OutputFile& file, const Mesh& mesh, const Box& cells, VtkCompression compression) {
  if (uniform_of(mesh) != nullptr) return;
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

/// Calls f(element, centring) for both kinds of values in the order that VTK writes them.
template <class F>
void for_centerings(const Mesh& mesh, F f) {
  f("PointData", nodes_of(mesh.dimensions));
  f("CellData", Centering::cell);
}

}  // namespace

bool has_vtk_grid(const Mesh& mesh) noexcept {
  return uniform_of(mesh) != nullptr || dynamic_cast<const RectilinearGeometry*>(mesh.geometry.get()) != nullptr;
}

std::string vtk_grid_ending(const Mesh& mesh, bool parallel) {
  return std::string(parallel ? ".p" : ".") + (uniform_of(mesh) != nullptr ? "vti" : "vtr");
}

void write_vtk_block(const std::string& path, const Mesh& mesh, const Box& cells, const std::vector<GridArray>& arrays,
                     const Iteration& iteration, const std::string& provenance, VtkCompression compression) {
  OutputFile file(path);
  const std::string grid = grid_name(mesh);
  write_vtk_head(file, grid, provenance, compression);
  file.write(fmt::format("<{} {}>\n", grid, grid_attributes(mesh, cells)));
  write_vtk_iteration(file, iteration);
  file.write(fmt::format("<Piece Extent=\"{}\">\n", vtk_extent(cells, mesh.dimensions)));
  for_centerings(mesh, [&](const char* element, Centering centering) {
    file.write(fmt::format("<{}>\n", element));
    for (const GridArray& array : arrays) {
      if (array.variable->centering == centering) write_values(file, array, cells, compression);
    }
    file.write(fmt::format("</{}>\n", element));
  });
  write_coordinates(file, mesh, cells, compression);
  file.write(fmt::format("</Piece>\n</{}>\n", grid));
  write_vtk_tail(file);
  file.close();
}

void write_vtk_grid(const std::string& path, const Mesh& mesh, const std::vector<const Variable*>& variables,
                    const std::vector<GridPiece>& pieces, const Iteration& iteration, const std::string& provenance) {
  OutputFile file(path);
  const std::string grid = "P" + grid_name(mesh);
  write_vtk_head(file, grid, provenance);
  file.write(fmt::format("<{} {} GhostLevel=\"0\">\n", grid, grid_attributes(mesh, mesh.cells)));
  write_vtk_iteration(file, iteration);
  for_centerings(mesh, [&](const char* element, Centering centering) {
    file.write(fmt::format("<P{}>\n", element));
    for (const Variable* variable : variables) {
      if (variable->centering != centering) continue;
      file.write(fmt::format("<PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n",
                             vtk_type_name(variable->type), xml_escaped(variable->name), variable->components));
    }
    file.write(fmt::format("</P{}>\n", element));
  });
  if (uniform_of(mesh) == nullptr) {
    file.write("<PCoordinates>\n");
    for (const char* name : {"x", "y", "z"}) {
      file.write(fmt::format("<PDataArray type=\"Float64\" Name=\"{}\"/>\n", name));
    }
    file.write("</PCoordinates>\n");
  }
  for (const GridPiece& piece : pieces) {
    file.write(fmt::format("<Piece Extent=\"{}\" Source=\"{}\"/>\n", vtk_extent(piece.cells, mesh.dimensions),
                           xml_escaped(piece.source)));
  }
  file.write(fmt::format("</{}>\n", grid));
  write_vtk_tail(file);
  file.close();
}

}  // namespace sidestream
