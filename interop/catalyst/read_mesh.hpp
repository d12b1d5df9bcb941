// Reads meshes in Conduit's Blueprint.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "piece.hpp"

namespace sidestream::catalyst {

/// Tells if the pieces of a mesh, by its name, are to be read.
using Wanted = std::function<bool(const std::string& mesh)>;

/// Reads a mesh of a channel: one piece for each topology of each domain that is wanted. `data` is a mesh or an object
/// of meshes (domains). A mesh with one topology has the name `name`, others NAME_TOPOLOGY. Nothing is copied but what
/// has to be converted. What cannot be used is left out and named in `problems`: a field, a topology, or all.
[[nodiscard]] std::vector<MeshPiece> read_mesh(const Node& data, const std::string& name, const Wanted& wanted,
                                               Problems& problems);

/// Reads the patches of a channel of type `amrmesh`: pieces of one uniform mesh, with level and id.
[[nodiscard]] std::vector<MeshPiece> read_levels(const Node& data, const std::string& name, const Wanted& wanted,
                                                 Problems& problems);

/// Reads shapes, connectivity and faces of a topology into lists. Throws Error(usage).
void read_cells(const Node& topology, MeshPiece& piece);

/// Finds where the values of a field or of points begin and how far they are apart: by `offsets` and `strides` below
/// `node`, in values along i, j, k, or one after the other. Compares it with the number of values. Throws Error(usage).
void lay_out(const Node& node, const Node& values, const MeshPiece& piece, FieldPiece& field);

/// Reads the fields of a topology, and its ghosts: for boxes, `owned` is set; for lists, the flags. `only` is true if
/// the mesh has one topology, whose name fields may leave out.
void read_fields(const Node& mesh, const std::string& topology, bool only, MeshPiece& piece, Problems& problems);

}  // namespace sidestream::catalyst
