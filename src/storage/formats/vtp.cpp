#include "storage/formats/kinds.hpp"

#include <fmt/format.h>

#include <functional>

#include "storage/formats/surface_arrays.hpp"
#include "storage/formats/vtk_xml.hpp"

namespace sidestream {

namespace {

/// Writes an array whose values arrive in parts.
void write_vtp_array(OutputFile& file, const std::string& name, Type type, int components, std::uint64_t tuples,
                     const std::function<void(const SurfaceStream::Sink&)>& give) {
  const std::uint64_t bytes = tuples * static_cast<std::uint64_t>(components) * size_of(type);
  VtkArray array(file, name, type, components, bytes, {});
  give([&](std::span<const std::byte> values) { array.append(values); });
  array.finish();
}

/// Writes the corners of all triangles, line segments or vertices as one section.
void write_vtp_cells(OutputFile& file, const char* section, Type type, int corners, std::uint64_t cells,
                     const std::function<void(const SurfaceStream::Sink&)>& give) {
  file.write(fmt::format("<{}>\n", section));
  write_vtp_array(file, "connectivity", type, 1, cells * static_cast<std::uint64_t>(corners), give);
  const auto step = static_cast<std::uint64_t>(corners);
  write_vtp_array(file, "offsets", type, 1, cells,
                  [&](const auto& sink) { give_counting(type, step, step, cells, sink); });
  file.write(fmt::format("</{}>\n", section));
}

void write_vtp(const std::string& path, const SurfaceStream& surface, const Iteration& iteration,
               const std::string& provenance) {
  const Surface& outline = surface.outline();
  OutputFile file(path);
  write_vtk_head(file, "PolyData", provenance);
  file.write("<PolyData>\n");
  write_vtk_iteration(file, iteration);
  // Readers do not draw points without cells, so each becomes a vertex.
  const std::uint64_t vertices = surface.triangles() + surface.lines() == 0 ? surface.points() : 0;
  file.write(
      fmt::format("<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
                  "NumberOfPolys=\"{}\">\n<PointData>\n",
                  surface.points(), vertices, surface.lines(), surface.triangles()));
  for (std::size_t a = 0; a < outline.point_data.size(); ++a) {
    const Surface::Array& array = outline.point_data[a];
    write_vtp_array(file, array.name, array.type, array.components, surface.points(),
                    [&](const auto& sink) { surface.give_data(a, sink); });
  }
  file.write("</PointData>\n<Points>\n");
  write_vtp_array(file, "Points", outline.coordinates, 3, surface.points(),
                  [&](const auto& sink) { surface.give_points(sink); });
  file.write("</Points>\n");
  const Type corners = surface.corner_type();
  if (vertices > 0) {
    write_vtp_cells(file, "Verts", corners, 1, vertices,
                    [&](const auto& sink) { give_counting(corners, 0, 1, vertices, sink); });
  }
  if (surface.lines() > 0) {
    write_vtp_cells(file, "Lines", corners, 2, surface.lines(), [&](const auto& sink) { surface.give_lines(sink); });
  }
  write_vtp_cells(file, "Polys", corners, 3, surface.triangles(),
                  [&](const auto& sink) { surface.give_triangles(sink); });
  file.write("</Piece>\n</PolyData>\n");
  write_vtk_tail(file);
  file.close();
}

void write_pvtp(const std::string& path, const Surface& like, const std::vector<PieceFile>& pieces,
                const Iteration& iteration, const std::string& provenance) {
  OutputFile file(path);
  write_vtk_head(file, "PPolyData", provenance);
  file.write("<PPolyData GhostLevel=\"0\">\n");
  write_vtk_iteration(file, iteration);
  const auto declare = [&](const std::string& name, Type type, int components) {
    file.write(fmt::format("<PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n", vtk_type_name(type),
                           xml_escaped(name), components));
  };
  file.write("<PPointData>\n");
  for (const Surface::Array& array : like.point_data) declare(array.name, array.type, array.components);
  file.write("</PPointData>\n<PPoints>\n");
  declare("Points", like.coordinates, 3);
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
  format.surface = write_vtp;
  format.list_ending = ".pvtp";
  format.surface_list = write_pvtp;
  return format;
}

}  // namespace sidestream
