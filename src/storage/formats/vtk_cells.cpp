#include "storage/formats/vtk_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/data/box_values.hpp"

namespace sidestream {

namespace {

constexpr std::int64_t polyhedron = 42;  ///< VTK's number

/// Calls f(position, value) for all values of a list of integers.
template <class F>
void for_each_number(const BlockView* view, F f) {
  if (view == nullptr) return;
  Index at = 0;
  for_each_slab(view->array, view->points, Order::column, vtk_copy_bytes,
                [&](std::span<const std::byte> bytes, const Box&) {
                  with_type(view->array.type, [&](auto zero) {
                    for (std::size_t n = 0; n < bytes.size(); n += sizeof zero) {
                      std::memcpy(&zero, &bytes[n], sizeof zero);
                      f(at++, static_cast<std::int64_t>(zero));
                    }
                  });
                });
}

/// Checks a block's lists and reports errors.
class Checker {
 public:
  Checker(const Mesh& mesh, const VtkBlock& block) : mesh_(mesh), block_(block) {}

  void check_corners() const {
    const Index points = block_.block.lengths.points;
    for_each_number(block_.of(Role::connectivity), [&](Index at, std::int64_t point) {
      if (point >= 0 && point < points) return;
      refuse(fmt::format("entry {} of its connectivity is point {}, but it has the points 0 to {}", at, point,
                         points - 1));
    });
    std::int64_t end = 0;
    for_each_number(block_.of(Role::offsets), [&](Index cell, std::int64_t next) {
      if (next < end) {
        refuse(fmt::format("the points of cell {} end at entry {} of its connectivity, before they begin at {}", cell,
                           next, end));
      }
      end = next;
    });
    if (end != block_.block.lengths.corners) {
      refuse(
          fmt::format("its offsets end at {}, but its connectivity has {} entries", end, block_.block.lengths.corners));
    }
  }

  /// True if the block has polyhedra; throws if their faces are missing.
  [[nodiscard]] bool check_polyhedra() const {
    std::vector<Index> polyhedra;
    for_each_number(block_.of(Role::types), [&](Index cell, std::int64_t type) {
      if (type == polyhedron) polyhedra.push_back(cell);
    });
    if (polyhedra.empty()) return false;
    if (block_.of(Role::faces) == nullptr) {
      refuse(fmt::format("cell {} is a polyhedron (type {}), but there are no faces", polyhedra.front(), polyhedron));
    }
    std::vector<std::int64_t> ends;
    std::size_t next = 0;
    for_each_number(block_.of(Role::face_offsets), [&](Index cell, std::int64_t end) {
      const bool is_polyhedron = next < polyhedra.size() && polyhedra[next] == cell;
      if (is_polyhedron) ++next;
      if (is_polyhedron != (end >= 0)) {
        refuse(
            fmt::format("the face offset of cell {} is {}; expected where the faces of a polyhedron end, and -1 for "
                        "other cells",
                        cell, end));
      }
      if (end >= 0) ends.push_back(end);
    });
    check_faces(polyhedra, ends);
    return true;
  }

 private:
  /// Checks the faces of polyhedra. The list has, for each polyhedron, the number of its faces; for each of these, the
  /// number of its points, then the points.
  void check_faces(const std::vector<Index>& polyhedra, const std::vector<std::int64_t>& ends) const {
    std::size_t cell = 0;
    std::int64_t faces = -1, points = 0;  // values still expected
    for_each_number(block_.of(Role::faces), [&](Index at, std::int64_t value) {
      if (cell == ends.size()) refuse(fmt::format("its faces go on at entry {} behind those of the last cell", at));
      if (points > 0) {
        --points;
        if (value < 0 || value >= block_.block.lengths.points) {
          refuse(fmt::format("entry {} of its faces is point {}, but it has the points 0 to {}", at, value,
                             block_.block.lengths.points - 1));
        }
      } else if (value <= 0) {
        refuse(fmt::format("entry {} of its faces is {}, expected a number of {}", at, value,
                           faces < 0 ? "faces" : "points"));
      } else if (faces < 0) {
        faces = value;
      } else {
        --faces;
        points = value;
      }
      const bool complete = faces == 0 && points == 0;
      if (complete != (at + 1 == ends[cell])) {
        refuse(
            fmt::format("the faces of cell {} do not end at {}, as its face offset says", polyhedra[cell], ends[cell]));
      }
      if (!complete) return;
      ++cell;
      faces = -1;
    });
    if (cell < ends.size()) refuse(fmt::format("its faces end before those of cell {}", polyhedra[cell]));
  }

  [[noreturn]] void refuse(const std::string& what) const {
    fail(Code::analysis, "block {} of the mesh '{}' cannot be written as VTK: {}; correct what is published",
         block_.block.id, mesh_.name, what);
  }

  const Mesh& mesh_;
  const VtkBlock& block_;
};

void write_list(OutputFile& file, const char* name, const VtkBlock& block, Role role, VtkCompression compression) {
  for (const BlockArray& array : block.arrays) {
    if (array.variable->role != role) continue;
    const Box all = array.variable->points(block.block);
    VtkArray out(file, name, array.variable->type, 1, packed_bytes(all, 1, array.variable->type), compression);
    if (array.values != nullptr) {  // a list without entries has no values
      for_each_slab(array.values->array, all, Order::column, vtk_copy_bytes,
                    [&](std::span<const std::byte> values, const Box&) { out.append(values); });
    }
    out.finish();
  }
}

}  // namespace

void write_vtk_cells(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression) {
  const Checker checker(mesh, block);
  checker.check_corners();
  const bool polyhedra = checker.check_polyhedra();
  file.write("<Cells>\n");
  write_list(file, "connectivity", block, Role::connectivity, compression);
  write_list(file, "offsets", block, Role::offsets, compression);
  write_list(file, "types", block, Role::types, compression);
  if (polyhedra) {
    write_list(file, "faces", block, Role::faces, compression);
    write_list(file, "faceoffsets", block, Role::face_offsets, compression);
  }
  file.write("</Cells>\n");
}

void write_vtk_verts(OutputFile& file, Index count, VtkCompression compression) {
  file.write("<Verts>\n");
  write_vtk_counting(file, "connectivity", 0, 1, count, compression);
  write_vtk_counting(file, "offsets", 1, 1, count, compression);
  file.write("</Verts>\n");
}

}  // namespace sidestream
