// What makes a context one that VTK and ParaView open.
#pragma once

#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"
#include "storage/database/shown.hpp"
#include "storage/hdf5/file.hpp"

namespace sidestream::database {

/// Adds the group `VTKHDF` to a file that has all of `pieces` as arrays under the names of variable_path: links to
/// those, and what VTK needs besides. Of one mesh it is a data set of its kind, of several a collection with a part for
/// each. Shown are uniform meshes, unstructured ones without polyhedra, and points; variables in cells or at nodes of
/// the first in column order, of lists all. Without any of these there is no such group.
void show_to_vtk(hdf5::Group& root, const Metadata& metadata, const ShownPieces& pieces, const Iteration& iteration);

}  // namespace sidestream::database
