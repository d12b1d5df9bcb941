// Shows contexts as HDF5 files that contain no values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "storage/database/layout.hpp"
#include "storage/hdf5/file.hpp"

namespace sidestream::database {

/// Writes `context-N.h5`, in which every variable without codecs is one array over its mesh that points into the
/// segments. Writes nothing if no variable with values on a mesh does. Throws Error(file).
void show(const std::string& directory, const Entry& entry);

// The pieces of a context as readers of HDF5 find them.

/// A piece that went through no codec.
struct Shown {
  std::int64_t id;  ///< of its block
  Box points;
  std::string file;
  std::uint64_t first, length;  ///< elements of the segment's array of the type, and how many that has
};

/// By variable, in ascending order of blocks.
using ShownPieces = std::map<std::int32_t, std::vector<Shown>>;

// The group that lets VTK and ParaView open a context.

/// Adds the group `VTKHDF` to a file that has all of `pieces` as arrays under the names of variable_path: links to
/// those, and what VTK needs besides. Of one mesh it is a data set of its kind, of several a collection with a part for
/// each. Shown are uniform meshes, unstructured ones without polyhedra, and points; variables in cells or at nodes of
/// the first in column order, of lists all. Without any of these there is no such group.
void show_to_vtk(hdf5::Group& root, const Metadata& metadata, const ShownPieces& pieces, const Iteration& iteration);

}  // namespace sidestream::database
