// The ranks' agreement on meshes and variables, which the host has never declared.
//
// Each rank knows only its pieces. In the first `execute` all ranks describe theirs to each other. Every rank then
// makes the same declarations from the same descriptions: the box of a uniform mesh is the one around all pieces, the
// nodes of a rectilinear one are those of all pieces, and so on. Later pieces find their place in them without
// communication.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "names.hpp"
#include "piece.hpp"
#include "ranks.hpp"

namespace sidestream::catalyst {

using interop::as_name;
using interop::Ranks;

/// A field that was seen in the first `execute`.
struct AgreedField {
  std::string name;      ///< in the host's nodes
  std::string variable;  ///< in the configuration; see `agree`
  std::string unit;
  Centering centering = Centering::cell;
  Type type = Type::float64;
  std::int32_t components = 1;
};

/// A mesh that was seen in the first `execute`.
struct AgreedMesh {
  std::string name;
  MeshKind kind = MeshKind::none;
  int dimensions = 3;
  Index3 size{1, 1, 1};                                     ///< cells of level 0; boxes only
  std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};  ///< uniform: of level 0
  std::vector<Index3> ratios{};                             ///< uniform, between levels
  std::array<std::vector<double>, 3> nodes{};               ///< rectilinear
  Type place_type = Type::float64;                          ///< coordinates
  int place_components = 3;
  bool polyhedra = false, point_ghosts = false, cell_ghosts = false;
  /// Curvilinear pieces without indices stand side by side along i: the first cell, by rank and number of the piece.
  std::map<std::pair<int, std::int64_t>, Index> beginnings{};
  std::vector<AgreedField> fields{};

  /// The cells of a piece of this rank that are no ghosts, in the mesh's indices on its level. Throws Error(usage) if
  /// they are not cells of the mesh.
  [[nodiscard]] Box place(const MeshPiece& piece, int rank) const;
  [[nodiscard]] const AgreedField* find(const std::string& field) const;
};

/// Agrees on the meshes of all ranks' pieces. Collective; the same on every rank. A field's variable has the field's
/// name; if several meshes have such a field, MESH_FIELD; with _ behind it where that is taken. What contradicts
/// another rank's piece is named in `problems`, and the lower rank's counts.
[[nodiscard]] std::vector<AgreedMesh> agree(const std::vector<MeshPiece>& pieces, const Ranks& ranks,
                                            Problems& problems);

}  // namespace sidestream::catalyst
