// Variables: mesh, centring, type, unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sidestream/data/array.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/box.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream {

/// The positions of values on the mesh. There is a bit for each axis (1: x, 2: y, 4: z). It is set if points lie at the
/// nodes of that axis, and clear if they lie midway between two nodes. x-faces are normal to x; x-edges run along x. A
/// variable has only bits of axes that its mesh uses: all nodes of a 2-D mesh are 3.
enum class Centering : std::uint8_t {
  cell = 0,
  x_face = 1,
  y_face = 2,
  z_edge = 3,
  z_face = 4,
  y_edge = 5,
  x_edge = 6,
  node = 7,
};

inline constexpr int centering_count = 8;

/// True if points lie at the nodes of `axis`.
[[nodiscard]] constexpr bool at_nodes(Centering centering, int axis) noexcept {
  return (static_cast<unsigned>(centering) >> axis & 1u) != 0;
}

/// The centring without the axes that a mesh of `dimensions` dimensions does not use.
[[nodiscard]] constexpr Centering reduced(Centering centering, int dimensions) noexcept {
  return static_cast<Centering>(static_cast<unsigned>(centering) & ((1u << dimensions) - 1u));
}

/// The centring of nodes on a mesh of that many dimensions.
[[nodiscard]] constexpr Centering nodes_of(int dimensions) noexcept { return reduced(Centering::node, dimensions); }

/// The points of a centring in a box of cells: one more than cells on each axis on which they are nodes.
[[nodiscard]] constexpr Box points_of(Centering centering, const Box& cells) noexcept {
  if (cells.empty()) return cells;
  Box box = cells;
  for (int a = 0; a < 3; ++a) box.hi[static_cast<std::size_t>(a)] += at_nodes(centering, a) ? 1 : 0;
  return box;
}

/// The role of a variable for its mesh. Arrays with the positions of the mesh are published like other arrays, and are
/// delivered with everything that is selected on the mesh. Indices in them count the points of the block from 0.
enum class Role : std::uint8_t {
  none = 0,          ///< values on the mesh
  coordinates = 1,   ///< for each point, a component for each dimension of the mesh
  connectivity = 2,  ///< the points of the cells, one cell after the other
  offsets = 3,       ///< for each cell: where its points end in the connectivity
  types = 4,         ///< for each cell: its type, with VTK's numbers
  faces = 5,         ///< for polyhedra, one after the other: number of faces, then for each face its number of points
                     ///< and the points
  face_offsets = 6,  ///< for each cell: where its faces end, -1 for cells that are no polyhedra
  point_ids = 7,     ///< for each point: a number that is the same wherever the point occurs
  cell_ids = 8,      ///< likewise for each cell
  point_ghosts = 9,  ///< for each point: not 0 if it counts in another block
  cell_ghosts = 10,  ///< likewise for each cell
  refined = 11,      ///< for each cell of a tree: not 0 if it is refined; its children follow
  owned = 12,        ///< for each cell of a tree: 0 if it counts in another block
};

inline constexpr int role_count = 13;

/// Name as written in configurations.
[[nodiscard]] constexpr std::string_view name_of(Role role) noexcept {
  constexpr std::string_view names[role_count] = {
      "none",      "coordinates", "connectivity", "offsets",     "types",   "faces", "face_offsets",
      "point_ids", "cell_ids",    "point_ghosts", "cell_ghosts", "refined", "owned"};
  return names[static_cast<unsigned>(role)];
}

/// The indices of a variable's values on a block: those of the centring, or the length of its role's list.
[[nodiscard]] constexpr Box points_of(Centering centering, Role role, const Block& block) noexcept {
  if (!block.is_list()) {
    Box box = points_of(centering, block.cells);
    for (int a = 0; a < 3 && !block.cells.empty(); ++a) {
      if (at_nodes(centering, a) && block.is_open(a)) --box.hi[static_cast<std::size_t>(a)];
    }
    return box;
  }
  if (role == Role::connectivity) return list_box(block.lengths.corners);
  if (role == Role::faces) return list_box(block.lengths.faces);
  return list_box(centering == Centering::cell ? block.cells.hi[0] : block.lengths.points);
}

/// Name as written in configurations: `cell`, `node`, `x-face` ... `z-edge`, for a mesh of that many dimensions. If
/// several names mean the same centring, faces are preferred to edges.
[[nodiscard]] constexpr std::string_view name_of(Centering centering, int dimensions = 3) noexcept {
  constexpr std::string_view names[centering_count] = {"cell",   "x-face", "y-face", "z-edge",
                                                       "z-face", "y-edge", "x-edge", "node"};
  const Centering there = reduced(centering, dimensions);
  if (there != Centering::cell && there == nodes_of(dimensions)) return "node";
  return names[static_cast<unsigned>(there)];
}

/// The centring of that name, or nothing.
[[nodiscard]] constexpr std::optional<Centering> centering_named(std::string_view name) noexcept {
  for (int n = 0; n < centering_count; ++n) {
    if (name_of(static_cast<Centering>(n)) == name) return static_cast<Centering>(n);
  }
  return std::nullopt;
}

/// The computation of a variable from others, on servers; internal to the library.
class Derivation;

/// Declared relations between values in cells of trees, as texts of the configuration; docs/mesh-kinds.md defines the
/// words. Codecs of databases predict values with them. If a relation does not hold, more bytes are needed, but nothing
/// is lost.
struct VariableRelations {
  std::string parent;    ///< a parent's value from its children's values: `mean of density * velocity`, `sum`
  std::string equals;    ///< the value as a sum of products of others in the same cell
  std::string face;      ///< the face of the cell that the value lies on: `low-x` ... `high-z`
  std::string opposite;  ///< the variable with the same component on the opposite face
  /// The variables on the other axes' faces, low and high, that make it divergence-free.
  std::vector<std::string> divergence_free{};
  [[nodiscard]] bool empty() const noexcept { return parent.empty() && equals.empty() && face.empty(); }
  bool operator==(const VariableRelations& other) const noexcept {
    return parent == other.parent && equals == other.equals && face == other.face && opposite == other.opposite &&
           divergence_free == other.divergence_free;
  }
};

/// A name and a text or number, which files pass on to their readers.
struct Attribute {
  std::string name;
  std::variant<std::int64_t, double, std::string> value;
  bool operator==(const Attribute& other) const { return name == other.name && value == other.value; }
};

/// One declared variable. Ids count variables in the order of declaration, the same on every process.
struct Variable {
  std::int32_t id = -1;
  std::string name;
  std::int32_t mesh = -1;  ///< id of its mesh
  Type type = Type::float64;
  Centering centering = Centering::cell;
  std::int32_t components = 1;
  Order order = Order::column;
  bool time_varying = true;  ///< false: published once, kept until published again
  std::string unit;          ///< as text, for labels and files; empty if dimensionless or unknown
  std::string label;         ///< for people; empty: the name
  std::string group;         ///< folder in files; empty: none
  Role role = Role::none;    ///< its role for its mesh; set by the mesh's declaration
  /// True if ghosts, and nodes that several blocks share, have the values that the owning block publishes. If false,
  /// nothing is known about ghosts.
  bool filled = false;
  VariableRelations relations{};
  std::vector<Attribute> attributes{};  ///< further attributes for files
  /// Null if clients publish the variable. Otherwise servers compute it, which costs time only if something selects it
  /// (see docs/derived.md). Derived variables follow all published ones, so that they do not change the ids of
  /// published ones.
  std::shared_ptr<const Derivation> derivation{};

  [[nodiscard]] bool derived() const noexcept { return derivation != nullptr; }
  [[nodiscard]] const std::string& title() const noexcept { return label.empty() ? name : label; }
  /// The indices of its values on a block.
  [[nodiscard]] Box points(const Block& block) const noexcept { return points_of(centering, role, block); }
  /// Its points in a box of cells, for a mesh whose blocks are boxes.
  [[nodiscard]] Box points(const Box& cells) const noexcept { return points_of(centering, cells); }
};

}  // namespace sidestream
