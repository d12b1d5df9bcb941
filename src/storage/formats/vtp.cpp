#include "storage/formats/vtp.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail.hpp"
#include "storage/formats/vtk_xml.hpp"

namespace sidestream {

namespace {

void check(const std::string& path, const Surface& surface) {
  for (const Surface::Array& array : surface.point_data) {
    const std::size_t expected = surface.points.size() * static_cast<std::size_t>(std::max(array.components, 0));
    if (array.components < 1 || array.values.size() != expected) {
      fail(Code::analysis,
           "the surface for '{}' has {} points, but its array '{}' of {} components has {} values; the "
           "analysis that "
           "made it must give one tuple a point",
           path, surface.points.size(), array.name, array.components, array.values.size());
    }
  }
}

/// The corners of all triangles, or of all pieces of lines, as one section.
template <std::size_t corners>
void write_cells(OutputFile& file, const char* section, const std::vector<std::array<std::int64_t, corners>>& cells) {
  // std::array of three is three values without gaps; the assertion is what the standard leaves open.
  static_assert(sizeof(std::array<std::int64_t, corners>) == corners * sizeof(std::int64_t));
  const auto* first = cells.empty() ? nullptr : cells.front().data();
  file.write(fmt::format("<{}>\n", section));
  write_vtk_array(file, "connectivity", Type::int64, 1, std::span(first, corners * cells.size()));
  std::vector<std::int64_t> offsets(cells.size());
  for (std::size_t n = 0; n < cells.size(); ++n) offsets[n] = static_cast<std::int64_t>(corners * (n + 1));
  write_vtk_array(file, "offsets", Type::int64, 1, std::span<const std::int64_t>(offsets));
  file.write(fmt::format("</{}>\n", section));
}

void write_surface(const std::string& path, const Surface& surface, const Iteration& iteration,
                   const std::string& provenance) {
  check(path, surface);
  OutputFile file(path);
  write_vtk_head(file, "PolyData", provenance);
  file.write("<PolyData>\n");
  write_vtk_iteration(file, iteration);
  // Points alone would be seen nowhere: each becomes a vertex.
  std::vector<std::array<std::int64_t, 1>> vertices(
      surface.triangles.empty() && surface.lines.empty() ? surface.points.size() : 0);
  for (std::size_t n = 0; n < vertices.size(); ++n) vertices[n] = {static_cast<std::int64_t>(n)};
  file.write(
      fmt::format("<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
                  "NumberOfPolys=\"{}\">\n<PointData>\n",
                  surface.points.size(), vertices.size(), surface.lines.size(), surface.triangles.size()));
  for (const Surface::Array& array : surface.point_data) {
    write_vtk_array(file, array.name, Type::float64, array.components, std::span<const double>(array.values));
  }
  file.write("</PointData>\n<Points>\n");
  const auto* points = surface.points.empty() ? nullptr : surface.points.front().data();
  write_vtk_array(file, "Points", Type::float64, 3, std::span(points, 3 * surface.points.size()));
  file.write("</Points>\n");
  if (!vertices.empty()) write_cells(file, "Verts", vertices);
  if (!surface.lines.empty()) write_cells(file, "Lines", surface.lines);
  write_cells(file, "Polys", surface.triangles);
  file.write("</Piece>\n</PolyData>\n");
  write_vtk_tail(file);
  file.close();
}

void write_list(const std::string& path, const Surface& like, const std::vector<PieceFile>& pieces,
                const Iteration& iteration, const std::string& provenance) {
  OutputFile file(path);
  write_vtk_head(file, "PPolyData", provenance);
  file.write("<PPolyData GhostLevel=\"0\">\n");
  write_vtk_iteration(file, iteration);
  const auto declare = [&](const std::string& name, int components) {
    file.write(fmt::format("<PDataArray type=\"Float64\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n", xml_escaped(name),
                           components));
  };
  file.write("<PPointData>\n");
  for (const Surface::Array& array : like.point_data) declare(array.name, array.components);
  file.write("</PPointData>\n<PPoints>\n");
  declare("Points", 3);
  file.write("</PPoints>\n");
  for (const PieceFile& piece : pieces) file.write(fmt::format("<Piece Source=\"{}\"/>\n", xml_escaped(piece.file)));
  file.write("</PPolyData>\n");
  write_vtk_tail(file);
  file.close();
}

}  // namespace

ResultFormat vtp_format() {
  ResultFormat format;
  format.ending = ".vtp";
  format.text = "VTK XML PolyData for surfaces; ParaView, VisIt and the vtk package open it.";
  format.surface = write_surface;
  format.list_ending = ".pvtp";
  format.surface_list = write_list;
  return format;
}

}  // namespace sidestream
