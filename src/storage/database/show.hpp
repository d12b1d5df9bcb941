// Presentation of contexts as HDF5 files without values of their own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/kit/storage/hdf5/file.hpp"
#include "storage/database/layout.hpp"

namespace sidestream::database {

/// Writes `context-N.h5`, in which every variable without codecs is one array over its mesh that points into the
/// segments. Writes nothing if there is no such variable with values on a mesh. Throws Error(file).
void show(const std::string& directory, const Entry& entry);

// The pieces of a context as readers of HDF5 see them.

/// A piece that went through no codec.
struct Shown {
  std::int64_t id;  ///< id of its block
  Box points;
  std::string file;
  std::uint64_t first, length;  ///< elements in the segment's array of the type; length of that array
};

/// By variable, in ascending order of blocks.
using ShownPieces = std::map<std::int32_t, std::vector<Shown>>;

// The group that lets VTK and ParaView open a context.

/// Adds the group `VTKHDF` to a file that has all of `pieces` as arrays under the names of variable_path. The group has
/// links to these arrays, and what else VTK needs. One mesh becomes a data set of its kind, several a collection with a
/// part for each. It shows uniform meshes, unstructured ones without polyhedra, and points. Of the former it shows
/// variables in cells or at nodes in column order, of lists all variables. Without any such variable the group is not
/// written.
void show_to_vtk(hdf5::Group& root, const Metadata& metadata, const ShownPieces& pieces, const Iteration& iteration);

}  // namespace sidestream::database
