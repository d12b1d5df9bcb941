// Fields of a topology, and the ghosts that two of them mark.
#include <algorithm>
#include <sidestream/error.hpp>
#include <string_view>

#include "read_mesh.hpp"

namespace sidestream::catalyst {

namespace {

constexpr std::string_view vtk_ghosts = "vtkGhostType", ascent_ghosts = "ascent_ghosts";
/// Bits of VTK's flags for copies and hidden ones. Cells that a finer level covers (8) are no ghosts.
constexpr std::int64_t duplicate = 1, hidden_point = 2, hidden_cell = 32;

Index3 contiguous(const MeshPiece& piece, Centering centering) {
  if (piece.is_list()) return {1, 0, 0};
  const Index3 n = centering == Centering::cell ? piece.cells : piece.box_points();
  return {1, n[0], n[0] * n[1]};
}

/// Reads `offsets` and `strides` of a field on a structured topology, in values along i, j, k.
void read_strides(const Node& node, const MeshPiece& piece, FieldPiece& field) {
  const Node strides = node.find("strides"), offsets = node.find("offsets");
  if (piece.is_list() || (!strides && !offsets)) return;
  if (!strides) fail_node(node, "found 'offsets' without 'strides', expected both");
  const Numbers s = strides.numbers();
  if (s.count < piece.dimensions) fail_node(strides, "found too few entries, expected one for each axis");
  for (int a = 0; a < piece.dimensions; ++a) field.strides[static_cast<std::size_t>(a)] = s.integer(a);
  if (!offsets) return;
  const Numbers o = offsets.numbers();
  if (o.count < piece.dimensions) fail_node(offsets, "found too few entries, expected one for each axis");
  for (int a = 0; a < piece.dimensions; ++a) field.first += o.integer(a) * field.strides[static_cast<std::size_t>(a)];
}

/// Compares the number of values with what is read: all of them, or up to the last one with strides.
void check_count(const Node& values, const MeshPiece& piece, const FieldPiece& field) {
  const Index have = field.components.front().count, expected = piece.count(field.centering);
  if (field.first == 0 && field.strides == contiguous(piece, field.centering)) {
    if (have == expected) return;
    fail_node(values, "found " + std::to_string(have) + " values, expected " + std::to_string(expected) +
                          ", one for each " + (field.centering == Centering::cell ? "cell" : "point"));
  }
  const Index3 n = field.centering == Centering::cell ? piece.cells : piece.box_points();
  Index last = field.first;
  for (std::size_t a = 0; a < 3; ++a) {
    if (n[a] > 1 && (field.strides[a] < 1 || field.strides[a] > have)) {
      fail_node(values,
                "found a stride of " + std::to_string(field.strides[a]) + ", expected 1 to the number of values");
    }
    last += (n[a] - 1) * field.strides[a];
  }
  if (field.first < 0 || last >= have) {
    fail_node(values, "found " + std::to_string(have) + " values, expected at least " + std::to_string(last + 1) +
                          " for these offsets and strides");
  }
}

}  // namespace

void lay_out(const Node& node, const Node& values, const MeshPiece& piece, FieldPiece& field) {
  field.strides = contiguous(piece, field.centering);
  read_strides(node, piece, field);
  check_count(values, piece, field);
}

namespace {

FieldPiece read_field(const Node& node, const std::string& name, const MeshPiece& piece) {
  FieldPiece field;
  field.name = name;
  field.path = node.path();
  const Node association = node.need("association");
  const std::string of = association.text();
  if (of != "vertex" && of != "element") fail_node(association, "found '" + of + "', expected 'vertex' or 'element'");
  field.centering = of == "element" ? Centering::cell : nodes_of(piece.is_list() ? 3 : piece.dimensions);
  // Points have both at one place.
  if (piece.kind == MeshKind::points) field.centering = Centering::node;
  if (const Node unit = node.find("units"); unit && unit.is_text()) field.unit = unit.text();
  const Node values = node.need("values");
  field.components = values.components();
  lay_out(node, values, piece, field);
  return field;
}

/// True if value i of a field that marks ghosts marks one.
bool is_ghost(const FieldPiece& flags, Index i) {
  const std::int64_t value = flags.components.front().integer(i);
  if (flags.name == ascent_ghosts) return value != 0;
  const std::int64_t hidden = flags.centering == Centering::cell ? hidden_cell : hidden_point;
  return (value & (duplicate | hidden)) != 0;
}

/// Sets `owned` to the cells without a flag, which must be a box.
void cut_ghosts(const FieldPiece& flags, MeshPiece& piece) {
  Box box{{0, 0, 0}, {0, 0, 0}};
  Index owned = 0;
  for (Index k = 0; k < piece.cells[2]; ++k) {
    for (Index j = 0; j < piece.cells[1]; ++j) {
      for (Index i = 0; i < piece.cells[0]; ++i) {
        const Index at = flags.first + i * flags.strides[0] + j * flags.strides[1] + k * flags.strides[2];
        if (is_ghost(flags, at)) continue;
        const Index3 cell{i, j, k};
        for (std::size_t a = 0; a < 3; ++a) {
          box.lo[a] = owned == 0 ? cell[a] : std::min(box.lo[a], cell[a]);
          box.hi[a] = owned == 0 ? cell[a] + 1 : std::max(box.hi[a], cell[a] + 1);
        }
        ++owned;
      }
    }
  }
  const Index volume = box.extent(0) * box.extent(1) * box.extent(2);
  if (owned != volume) {
    throw Error(Code::usage, flags.path + ": found " + std::to_string(owned) + " cells that are no ghosts, expected " +
                                 "those of a box, as a layer around the piece leaves");
  }
  piece.owned = box;
}

void take_ghosts(const FieldPiece& flags, MeshPiece& piece) {
  if (!piece.is_list()) {
    // Points of a box follow from its cells.
    if (flags.centering == Centering::cell) cut_ghosts(flags, piece);
    return;
  }
  std::vector<std::uint8_t>& taken = flags.centering == Centering::cell ? piece.cell_ghosts : piece.point_ghosts;
  for (Index i = 0; i < piece.count(flags.centering); ++i) taken.push_back(is_ghost(flags, i) ? 1 : 0);
}

}  // namespace

void read_fields(const Node& mesh, const std::string& topology, bool only, MeshPiece& piece, Problems& problems) {
  for (const auto& [name, node] : mesh.find("fields").children()) {
    try {
      const Node of = node.find("topology");
      if (of ? of.text() != topology : !only) continue;
      if (const Node values = node.find("values"); values && values.is_number() && values.numbers().count == 0)
        continue;
      FieldPiece field = read_field(node, name, piece);
      if (name == vtk_ghosts || name == ascent_ghosts) {
        take_ghosts(field, piece);
      } else {
        piece.fields.push_back(std::move(field));
      }
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
}

}  // namespace sidestream::catalyst
