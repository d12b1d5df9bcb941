// Checks of the lists of unstructured meshes, as each one is published.
//
// Each list is first compared with the block: entries of connectivity and faces must be points, offsets must ascend to
// the list's length. Data for the comparison with other lists is kept: corners by cell, types, and ends of polyhedra's
// faces. When both lists of a pair are known for an iteration they are compared: types with offsets (number of
// corners), types with face offsets (only polyhedra have faces), faces with face offsets (where each polyhedron ends).
#include "client/list_check.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "data/mesh_arrays.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {
namespace {

[[noreturn]] void refuse(const Mesh& mesh, const Block& block, const std::string& what) {
  fail(
      Code::usage,
      "publish: {} in block {} of the mesh '{}', which was declared with {} points, {} cells, {} corners and {} entries "
      "of faces; correct the array, or the numbers that set_block_list was given",
      what, block.id, mesh.name, block.lengths.points, block.cells.hi[0], block.lengths.corners, block.lengths.faces);
}

/// Calls f(n, number) for all entries of a list of integers.
template <class F>
void for_each_number(const ArrayView& list, F&& f) {
  with_type(list.type, [&](auto zero) {
    using T = decltype(zero);
    const T* number = list.at<T>(list.box.lo[0], 0, 0);
    const Index count = list.box.extent(0);
    for (Index n = 0; n < count; ++n) f(n, static_cast<std::int64_t>(number[n * list.strides[0]]));
  });
}

std::pair<std::int64_t, std::int64_t> ends_of(const ArrayView& list) {
  std::pair<std::int64_t, std::int64_t> ends{INT64_MAX, INT64_MIN};
  for_each_number(list, [&](Index, std::int64_t number) {
    ends.first = std::min(ends.first, number);
    ends.second = std::max(ends.second, number);
  });
  return ends;
}

/// Returns the likely cause of a number that cannot be a point.
std::string cause_of(std::int64_t number, const ArrayView& list, std::int64_t least, std::int64_t points) {
  constexpr int half = 32;
  const std::int64_t low = number & 0xffffffff, high = number >> half;
  if (list.type == Type::int64 && high > 0 && high < points && low < points) {
    return " (two numbers of 32 bits, read as one of 64: the variable's type is int64, the array's is not)";
  }
  if (number == points && least == 1) return " (points are counted from 0, not from 1)";
  return "";
}

void check_connectivity(const Mesh& mesh, const Block& block, const ArrayView& list) {
  const std::int64_t points = block.lengths.points;
  const auto [least, most] = ends_of(list);  // a fast check of the usual case
  if (least >= 0 && most < points) return;
  std::optional<std::pair<Index, std::int64_t>> first;
  for_each_number(list, [&](Index n, std::int64_t number) {
    if (!first && (number < 0 || number >= points)) first = {n, number};
  });
  if (!first) return;  // no entries
  refuse(mesh, block,
         fmt::format("entry {} of the connectivity is point {}, expected 0 to {}{},", first->first, first->second,
                     points - 1, cause_of(first->second, list, least, points)));
}

/// Number of points of each cell.
std::vector<std::uint8_t> corners_by(const Mesh& mesh, const Block& block, const ArrayView& list) {
  constexpr std::int64_t most = 255;
  std::vector<std::uint8_t> corners(static_cast<std::size_t>(list.box.extent(0)));
  std::int64_t begin = 0;
  for_each_number(list, [&](Index cell, std::int64_t end) {
    if (end < begin) {
      refuse(mesh, block, fmt::format("the points of cell {} end at {}, before they begin at {},", cell, end, begin));
    }
    corners[static_cast<std::size_t>(cell)] = static_cast<std::uint8_t>(std::min(end - begin, most));
    begin = end;
  });
  if (begin == block.lengths.corners || corners.empty()) return corners;
  refuse(mesh, block,
         fmt::format("the offsets end at {}, expected the number of corners{},", begin,
                     corners.front() == 0 ? " (of each cell they say where its points end: the first is not 0)" : ""));
}

/// End of each polyhedron's faces in the list.
std::vector<std::int64_t> ends_of_faces(const Mesh& mesh, const Block& block, const ArrayView& list) {
  std::vector<std::int64_t> ends;
  std::int64_t faces = -1, points = 0;  // faces and points still expected
  for_each_number(list, [&](Index n, std::int64_t number) {
    if (points > 0) {
      --points;
      if (number < 0 || number >= block.lengths.points) {
        refuse(
            mesh, block,
            fmt::format("entry {} of the faces is point {}, expected 0 to {},", n, number, block.lengths.points - 1));
      }
    } else if (number <= 0) {
      refuse(mesh, block,
             fmt::format("entry {} of the faces is {}, expected a number of {},", n, number,
                         faces < 0 ? "faces" : "points"));
    } else if (faces < 0) {
      faces = number;
    } else {
      --faces;
      points = number;
    }
    if (faces != 0 || points != 0) return;
    ends.push_back(n + 1);
    faces = -1;
  });
  if (faces < 0) return ends;
  refuse(mesh, block,
         fmt::format("the list of faces ends in the middle of polyhedron {}, counted from 0,", ends.size()));
}

}  // namespace

void ListCheck::compare(const Mesh& mesh, const Block& block, const Known& known, Kept changed,
                        std::int64_t iteration) {
  const auto both = [&](Kept one, Kept other) {
    const auto is_now = [&](Kept list) { return known.of[list] == always || known.of[list] == iteration; };
    return (changed == one || changed == other) && is_now(one) && is_now(other);
  };
  if (both(offsets, types)) {
    for (std::size_t cell = 0; cell < known.types.size(); ++cell) {
      const int expected = points_of_cell_type(known.types[cell]);
      if (expected == 0 || known.corners[cell] == expected) continue;
      refuse(mesh, block,
             fmt::format("cell {} has {} points, but its type {} has {},", cell, known.corners[cell], known.types[cell],
                         expected));
    }
  }
  if (both(faces, face_offsets) && known.ends_of_faces != known.face_ends) {
    const auto [by_faces, by_offsets] = std::mismatch(known.ends_of_faces.begin(), known.ends_of_faces.end(),
                                                      known.face_ends.begin(), known.face_ends.end());
    const auto text = [](auto at, auto end) { return at == end ? std::string("nowhere") : fmt::format("at {}", *at); };
    refuse(mesh, block,
           fmt::format("the faces of polyhedron {}, counted from 0, end {}, by their offsets {},",
                       by_faces - known.ends_of_faces.begin(), text(by_faces, known.ends_of_faces.end()),
                       text(by_offsets, known.face_ends.end())));
  }
  if (both(types, face_offsets)) {
    for (std::size_t cell = 0; cell < known.types.size(); ++cell) {
      const bool is_one = known.types[cell] == vtk_polyhedron_type;
      if (is_one == (known.polyhedron[cell] != 0)) continue;
      refuse(mesh, block,
             fmt::format("cell {} is {} (type {}), but its face offset says {},", cell,
                         is_one ? "a polyhedron" : "no polyhedron", known.types[cell], is_one ? "none" : "it is one"));
    }
  }
}

void ListCheck::read(const Mesh& mesh, const BlockRecord& record, const ArrayView& list, std::int64_t iteration) {
  if (mesh.kind() != MeshKind::unstructured) return;
  const Block& block = record.block;
  if (record.role == Role::connectivity) return check_connectivity(mesh, block, list);
  if (record.role != Role::offsets && record.role != Role::types && record.role != Role::faces &&
      record.role != Role::face_offsets) {
    return;
  }
  Known& known = known_[{mesh.id, block.id}];
  const Kept kept = record.role == Role::offsets ? offsets
                    : record.role == Role::types ? types
                    : record.role == Role::faces ? faces
                                                 : face_offsets;
  known.of[kept] = -1;  // until it has passed the checks
  if (kept == offsets) known.corners = corners_by(mesh, block, list);
  if (kept == faces) known.ends_of_faces = ends_of_faces(mesh, block, list);
  if (kept == types) {
    known.types.resize(static_cast<std::size_t>(list.box.extent(0)));
    for_each_number(list, [&](Index cell, std::int64_t type) {
      known.types[static_cast<std::size_t>(cell)] = static_cast<std::uint8_t>(type);
    });
  }
  if (kept == face_offsets) {
    known.face_ends.clear();
    known.polyhedron.assign(static_cast<std::size_t>(list.box.extent(0)), 0);
    for_each_number(list, [&](Index cell, std::int64_t end) {
      if (end < 0) return;
      known.face_ends.push_back(end);
      known.polyhedron[static_cast<std::size_t>(cell)] = 1;
    });
  }
  known.of[kept] = record.persistent != 0 ? always : iteration;
  compare(mesh, block, known, kept, iteration);
}

}  // namespace sidestream
