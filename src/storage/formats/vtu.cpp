#include "storage/formats/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"
#include "storage/formats/vtk_xml.hpp"

namespace sidestream {

namespace {

void check_arrays(const std::string& path, const std::vector<Surface::Array>& arrays, std::size_t tuples,
                  const char* what) {
  for (const Surface::Array& array : arrays) {
    const std::size_t expected = tuples * static_cast<std::size_t>(std::max(array.components, 0));
    if (array.components >= 1 && array.values.size() == expected) continue;
    fail(Code::analysis,
         "the set of cells for '{}' has {} {}, but its array '{}' of {} components has {} values; the analysis that "
         "made it must give one tuple each",
         path, tuples, what, array.name, array.components, array.values.size());
  }
}

/// Checks that indices are in range, since readers use them unchecked.
void check(const std::string& path, const CellSet& cells) {
  check_arrays(path, cells.point_data, cells.points.size(), "points");
  check_arrays(path, cells.cell_data, cells.types.size(), "cells");
  const auto points = static_cast<std::int64_t>(cells.points.size());
  const bool ends =
      cells.ends.size() == cells.types.size() && std::is_sorted(cells.ends.begin(), cells.ends.end()) &&
      (cells.ends.empty() ? cells.links.empty() : cells.ends.back() == static_cast<std::int64_t>(cells.links.size()));
  const bool links = std::all_of(cells.links.begin(), cells.links.end(),
                                 [&](std::int64_t point) { return point >= 0 && point < points; });
  if (ends && links && (cells.face_ends.empty() || cells.face_ends.size() == cells.types.size())) return;
  fail(
      Code::analysis,
      "the set of cells for '{}' has {} cells, {} ends, {} entries in its links, {} points and {} ends of faces, which "
      "do not fit together; the analysis that made it must give an end for each cell, and points that there are",
      path, cells.types.size(), cells.ends.size(), cells.links.size(), points, cells.face_ends.size());
}

void write_vtu_arrays(OutputFile& file, const char* section, const std::vector<Surface::Array>& arrays) {
  file.write(fmt::format("<{}>\n", section));
  for (const Surface::Array& array : arrays) {
    write_vtk_array(file, array.name, Type::float64, array.components, std::span<const double>(array.values));
  }
  file.write(fmt::format("</{}>\n", section));
}

void write_vtu(const std::string& path, const CellSet& cells, const Iteration& iteration,
               const std::string& provenance) {
  check(path, cells);
  OutputFile file(path);
  write_vtk_head(file, "UnstructuredGrid", provenance);
  file.write("<UnstructuredGrid>\n");
  write_vtk_iteration(file, iteration);
  file.write(
      fmt::format("<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", cells.points.size(), cells.types.size()));
  write_vtu_arrays(file, "PointData", cells.point_data);
  write_vtu_arrays(file, "CellData", cells.cell_data);
  file.write("<Points>\n");
  const auto* points = cells.points.empty() ? nullptr : cells.points.front().data();
  write_vtk_array(file, "Points", Type::float64, 3, std::span(points, 3 * cells.points.size()));
  file.write("</Points>\n<Cells>\n");
  const auto numbers = [&](const char* name, const std::vector<std::int64_t>& values) {
    write_vtk_array(file, name, Type::int64, 1, std::span<const std::int64_t>(values));
  };
  numbers("connectivity", cells.links);
  numbers("offsets", cells.ends);
  write_vtk_array(file, "types", Type::uint8, 1, std::span<const std::uint8_t>(cells.types));
  if (!cells.faces.empty()) {
    numbers("faces", cells.faces);
    numbers("faceoffsets", cells.face_ends);
  }
  file.write("</Cells>\n</Piece>\n</UnstructuredGrid>\n");
  write_vtk_tail(file);
  file.close();
}

void write_pvtu(const std::string& path, const CellSet& like, const std::vector<PieceFile>& pieces,
                const Iteration& iteration, const std::string& provenance) {
  OutputFile file(path);
  write_vtk_head(file, "PUnstructuredGrid", provenance);
  file.write("<PUnstructuredGrid GhostLevel=\"0\">\n");
  write_vtk_iteration(file, iteration);
  const auto declare = [&](const std::string& name, int components) {
    file.write(fmt::format("<PDataArray type=\"Float64\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n", xml_escaped(name),
                           components));
  };
  const auto declare_all = [&](const char* section, const std::vector<Surface::Array>& arrays) {
    file.write(fmt::format("<{}>\n", section));
    for (const Surface::Array& array : arrays) declare(array.name, array.components);
    file.write(fmt::format("</{}>\n", section));
  };
  declare_all("PPointData", like.point_data);
  declare_all("PCellData", like.cell_data);
  file.write("<PPoints>\n");
  declare("Points", 3);
  file.write("</PPoints>\n");
  for (const PieceFile& piece : pieces) file.write(fmt::format("<Piece Source=\"{}\"/>\n", xml_escaped(piece.file)));
  file.write("</PUnstructuredGrid>\n");
  write_vtk_tail(file);
  file.close();
}

}  // namespace

ResultFormat vtu_format() {
  ResultFormat format;
  format.ending = ".vtu";
  format.text = "VTK XML UnstructuredGrid for parts of meshes; ParaView, VisIt and the vtk package open it.";
  format.cells = write_vtu;
  format.list_ending = ".pvtu";
  format.cells_list = write_pvtu;
  return format;
}

}  // namespace sidestream
