// Reading the lists of an unstructured block. The arrays are taken as views if they are contiguous, otherwise copied.
// Offsets, types and the connectivity are checked once, so that later code may index without checks; polyhedra get the
// beginnings of their faces. Then cells of higher order are replaced by linear parts.
#include "visualisation/mesh/cells/cell_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "sidestream/kit/base/fail.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"
#include "visualisation/mesh/cells/subdivision.hpp"

namespace sidestream {
namespace {

// The name of a point without a number consists of the block's id and its position in the list.
constexpr int place_bits = 38;
constexpr std::int64_t most_blocks = std::int64_t{1} << (62 - place_bits);

bool gapless(const BlockView& view) { return view.array.strides[0] == 1 || view.points.count() <= 1; }

std::vector<std::uint8_t> bytes_of_list(const ArrayView& array, const Box& points) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(points.count()));
  if (array.strides[0] == 1 && !bytes.empty()) {
    std::copy_n(array.at<std::uint8_t>(points.lo[0], 0, 0), bytes.size(), bytes.begin());
    return bytes;
  }
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    bytes[n] = *array.at<std::uint8_t>(points.lo[0] + static_cast<Index>(n), 0, 0);
  }
  return bytes;
}

const BlockView* find_array(const LocalInput& input, const Mesh& mesh, Role role, std::int64_t block) {
  return input.find(mesh.array(role), block);
}

/// Number of points of cells of a type; 0: any number from 3 on, or 1.
std::int64_t corners_of(std::uint8_t type) {
  if (type == vtk_triangle) return 3;
  if (type == vtk_pixel || type == vtk_quad) return 4;
  if (is_subdivided(type)) return points_of_subdivided(type);
  const CellShape* shape = shape_of(type);
  return shape == nullptr ? 0 : shape->body.corners();
}

bool is_known(std::uint8_t type) {
  return is_thin_cell(type) || is_flat_cell(type) || type == vtk_polyhedron || is_subdivided(type) ||
         shape_of(type) != nullptr;
}

}  // namespace

WholeNumbers::WholeNumbers(const BlockView& view) {
  const auto count = static_cast<std::size_t>(view.points.count());
  with_type(view.array.type, [&](auto zero) {
    using T = decltype(zero);
    if (count == 0) return;
    if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ||
                  std::is_same_v<T, std::uint8_t>) {
      if (gapless(view)) {
        numbers_ = std::span(view.array.at<T>(view.points.lo[0], 0, 0), count);
        return;
      }
    }
    if constexpr (std::is_integral_v<T>) {
      copy_.resize(count);
      for (std::size_t n = 0; n < count; ++n) {
        copy_[n] = static_cast<std::int64_t>(*view.array.at<T>(view.points.lo[0] + static_cast<Index>(n), 0, 0));
      }
      numbers_ = std::span<const std::int64_t>(copy_);
    }
  });
}

std::size_t WholeNumbers::size() const noexcept {
  return std::visit([](auto numbers) { return numbers.size(); }, numbers_);
}

CellList::CellList(const LocalInput& input, const Mesh& mesh, const Block& block)
    : mesh_(&mesh),
      block_(block),
      places_(static_cast<std::size_t>(block.lengths.points)),
      links_(*find_array(input, mesh, Role::connectivity, block.id)),
      ends_(*find_array(input, mesh, Role::offsets, block.id)) {
  const auto optional_array = [&](Role role, std::optional<WholeNumbers>& into) {
    if (const BlockView* view = find_array(input, mesh, role, block.id)) into.emplace(*view);
  };
  optional_array(Role::point_ids, point_ids_);
  optional_array(Role::cell_ids, cell_ids_);
  optional_array(Role::faces, faces_);
  optional_array(Role::face_offsets, face_ends_);
  const BlockView& types = *find_array(input, mesh, Role::types, block.id);
  types_ = bytes_of_list(types.array, types.points);
  if (types.ghosts.data != nullptr) flags_ = bytes_of_list(types.ghosts, types.points);
  const BlockView& coordinates = *find_array(input, mesh, Role::coordinates, block.id);
  with_type(coordinates.array.type, [&](auto zero) {
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const auto* x = coordinates.array.at<decltype(zero)>(coordinates.points.lo[0] + static_cast<Index>(p), 0, 0);
      for (int d = 0; d < mesh.dimensions; ++d) {
        places_[p][static_cast<std::size_t>(d)] = static_cast<double>(x[d * coordinates.array.strides[3]]);
      }
    }
  });
  if (!point_ids_ || !cell_ids_) {
    if (block.id < 0 || block.id >= most_blocks || block.cells.hi[0] >= std::int64_t{1} << place_bits) {
      fail(Code::analysis,
           "block {} of the mesh '{}' has {} cells, and its points or cells have no numbers; surfaces name them by the "
           "block, which takes ids from 0 to {}: number blocks so, or give the mesh point_ids and cell_ids",
           block.id, mesh.name, block.cells.hi[0], most_blocks - 1);
    }
    first_name_ = block.id << place_bits;
  }
  check();
  subdivide();
}

CellList::CellList(const Mesh& mesh, std::vector<std::array<double, 3>> places, std::vector<std::int64_t> point_ids,
                   std::uint8_t type, std::vector<std::int64_t> links)
    : mesh_(&mesh), places_(std::move(places)) {
  const auto corners = static_cast<std::size_t>(corners_of(type));
  types_.assign(links.size() / corners, type);
  has_[type] = true;
  std::vector<std::int64_t> ends(types_.size());
  for (std::size_t cell = 0; cell < ends.size(); ++cell) ends[cell] = static_cast<std::int64_t>((cell + 1) * corners);
  links_ = WholeNumbers(std::move(links));
  ends_ = WholeNumbers(std::move(ends));
  point_ids_.emplace(std::move(point_ids));
}

void CellList::refuse(std::size_t cell, const std::string& what) const {
  fail(Code::analysis, "cell {} of block {} of the mesh '{}' {}; correct what is published", whole(cell), block_.id,
       mesh_->name, what);
}

void CellList::check() {
  std::int64_t begin = 0;
  std::array<std::int64_t, 256> corners{};
  std::array<bool, 256> known{};
  for (std::size_t type = 0; type < corners.size(); ++type) {
    corners[type] = corners_of(static_cast<std::uint8_t>(type));
    known[type] = is_known(static_cast<std::uint8_t>(type));
  }
  ends_.visit([&](auto ends) {
    for (std::size_t cell = 0; cell < types_.size(); ++cell) {
      has_[types_[cell]] = true;
      const auto end = static_cast<std::int64_t>(ends[cell]);
      const std::int64_t count = end - begin, expected = corners[types_[cell]];
      if (count < 0 || end > static_cast<std::int64_t>(links_.size())) {
        refuse(cell,
               fmt::format("has its points from {} to {} of a connectivity of {} entries", begin, end, links_.size()));
      }
      if (!known[types_[cell]]) {
        refuse(cell,
               fmt::format("has VTK's type {}; slices, surfaces and parts of meshes know the types 1 to 14, 21 to "
                           "32, 34 to 36 and 42",
                           types_[cell]));
      }
      if (expected > 0 && count != expected) {
        refuse(cell, fmt::format("has {} points, but its type {} has {}", count, types_[cell], expected));
      }
      begin = end;
    }
  });
  check_links();
  find_faces();
  check_faces();
}

void CellList::check_links() const {
  const auto points = static_cast<std::int64_t>(places_.size());
  links_.visit([&](auto links) {
    std::int64_t least = 0, most = -1;  // a quick check first finds out if there is any mistake
    for (const auto link : links) {
      least = std::min(least, static_cast<std::int64_t>(link));
      most = std::max(most, static_cast<std::int64_t>(link));
    }
    if (least >= 0 && most < points) return;
    for (std::size_t n = 0; n < links.size(); ++n) {
      if (links[n] >= 0 && static_cast<std::int64_t>(links[n]) < points) continue;
      fail(Code::analysis,
           "entry {} of the connectivity of block {} of the mesh '{}' is point {}, but it has the points 0 to {}; "
           "correct what is published",
           n, block_.id, mesh_->name, links[n], points - 1);
    }
  });
}

void CellList::find_faces() {
  if (!face_ends_ || !has_[vtk_polyhedron]) return;
  std::int64_t begin = 0;
  for (std::size_t cell = 0; cell < face_ends_->size(); ++cell) {
    face_begins_.push_back(begin);
    if ((*face_ends_)[cell] >= 0) begin = (*face_ends_)[cell];  // otherwise it is no polyhedron
  }
}

/// Replaces cells of higher order by their linear parts.
void CellList::subdivide() {
  bool any = false;
  for (std::size_t type = 0; type < has_.size(); ++type) {
    any = any || (has_[type] && is_subdivided(static_cast<std::uint8_t>(type)));
  }
  if (!any) return;
  std::vector<std::int64_t> links, ends, faces, face_ends;
  std::vector<std::uint8_t> types;
  const auto add = [&](std::size_t cell, std::int64_t part, std::uint8_t type) {
    types.push_back(type);
    ends.push_back(static_cast<std::int64_t>(links.size()));
    face_ends.push_back(type == vtk_polyhedron ? static_cast<std::int64_t>(faces.size()) : -1);
    wholes_.push_back(cell);
    parts_.push_back(part);
  };
  const auto add_faces = [&](const auto& loops, auto&& point) {
    faces.push_back(static_cast<std::int64_t>(loops.size()));
    for (const auto& loop : loops) {
      faces.push_back(static_cast<std::int64_t>(loop.size()));
      for (const auto corner : loop) faces.push_back(point(corner));
    }
  };
  std::vector<std::vector<std::vector<std::int64_t>>> loops;  // faces of polyhedra as published
  for (std::size_t cell = 0; cell < types_.size(); ++cell) {
    if (types_[cell] == vtk_polyhedron) loops.push_back(this->faces(cell));
  }
  std::size_t polyhedron = 0;
  std::int64_t begin = 0;
  for (std::size_t cell = 0; cell < types_.size(); ++cell) {
    const std::int64_t end = ends_[cell];
    const auto point = [&](int n) { return links_[static_cast<std::size_t>(begin + n)]; };
    if (!is_subdivided(types_[cell])) {
      for (std::int64_t n = begin; n < end; ++n) links.push_back(links_[static_cast<std::size_t>(n)]);
      if (types_[cell] == vtk_polyhedron) add_faces(loops[polyhedron++], [](std::int64_t p) { return p; });
      add(cell, 0, types_[cell]);
    } else {
      std::int64_t number = 0;
      for (const LinearPart& part : linear_parts(types_[cell], end - begin)) {
        for (const int n : part.points) links.push_back(point(n));
        if (part.type == vtk_polyhedron) add_faces(part.faces, point);
        add(cell, number++, part.type);
      }
    }
    begin = end;
  }
  types_ = std::move(types);
  links_ = WholeNumbers(std::move(links));
  ends_ = WholeNumbers(std::move(ends));
  faces_ = WholeNumbers(std::move(faces));
  face_ends_ = WholeNumbers(std::move(face_ends));
  face_begins_.clear();
  has_[vtk_polyhedron] = true;  // perhaps: some parts are polyhedra
  find_faces();
}

std::vector<double> CellList::in_cells(std::vector<double> numbers) const {
  if (wholes_.empty() || numbers.empty()) return numbers;
  std::vector<double> values;
  for (const std::size_t cell : wholes_) values.push_back(numbers[cell]);
  return values;
}

void CellList::check_faces() const {
  for (std::size_t cell = 0; cell < types_.size() && has_[vtk_polyhedron]; ++cell) {
    if (types_[cell] != vtk_polyhedron) continue;
    if (!faces_ || !face_ends_) {
      refuse(cell, fmt::format("is a polyhedron (type {}), but there are no faces", vtk_polyhedron));
    }
    for (const auto& face : faces(cell)) {
      for (const std::int64_t point : face) {
        if (point >= 0 && point < static_cast<std::int64_t>(places_.size())) continue;
        refuse(cell, fmt::format("has a face with point {}, but the block has the points 0 to {}", point,
                                 places_.size() - 1));
      }
    }
  }
}

std::vector<std::vector<std::int64_t>> CellList::faces(std::size_t cell) const {
  std::int64_t begin = face_begins_[cell];
  const std::int64_t end = (*face_ends_)[cell];
  if (begin < 0 || end <= begin || end > static_cast<std::int64_t>(faces_->size())) {
    refuse(cell, fmt::format("has its faces from {} to {} of {} entries", begin, end, faces_->size()));
  }
  const auto at = [&](std::int64_t n) { return (*faces_)[static_cast<std::size_t>(n)]; };
  std::vector<std::vector<std::int64_t>> loops;
  const std::int64_t count = at(begin++);
  for (std::int64_t f = 0; f < count; ++f) {
    const std::int64_t corners = begin < end ? at(begin++) : 0;
    if (corners < 3 || corners > end - begin) refuse(cell, "has faces that do not end where its face offset says");
    std::vector<std::int64_t>& loop = loops.emplace_back();
    for (std::int64_t n = 0; n < corners; ++n) loop.push_back(at(begin++));
  }
  if (begin != end) refuse(cell, "has faces that do not end where its face offset says");
  return loops;
}

std::vector<double> CellList::distances(const Plane& plane) const {
  std::vector<double> distances(places_.size());
  for (std::size_t p = 0; p < places_.size(); ++p) {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d) sum += plane.normal[d] * (places_[p][d] - plane.origin[d]);
    distances[p] = sum;
  }
  return distances;
}

std::optional<CellList> cell_list_of(const LocalInput& input, const BlockView& view) {
  const Mesh& mesh = input.metadata.meshes.at(static_cast<std::size_t>(view.block.mesh));
  // The cells of a copy count in the original block.
  if (view.copy || view.block.cells.empty()) return std::nullopt;
  for (const Role role : {Role::coordinates, Role::connectivity, Role::offsets, Role::types}) {
    if (find_array(input, mesh, role, view.block.id) == nullptr) return std::nullopt;
  }
  return CellList(input, mesh, view.block);
}

std::vector<double> numbers_of(const BlockView& view, int component) {
  std::vector<double> numbers(static_cast<std::size_t>(view.points.count()));
  copy_to_double(view.array, component, view.points, numbers.data(), view.points);
  return numbers;
}

}  // namespace sidestream
