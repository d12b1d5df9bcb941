// Relations between RAMSES' variables, for codecs that predict values.
#pragma once

#include <vector>

#include "data/relation_text.hpp"
#include "importers/ramses/cell_values.hpp"

namespace sidestream::importing {

/// Relations of each of `columns.variables`. Parents have the means of conserved quantities: density, momentum, energy,
/// and advected scalars. Faces of a magnetic field have means of faces, and zero divergence. A relation that does not
/// hold in an output is harmless, since values are restored bit by bit. `dimensions`: of the mesh.
[[nodiscard]] std::vector<VariableRelations> relations_of(const ramses::CellColumns& columns, int dimensions);

}  // namespace sidestream::importing
