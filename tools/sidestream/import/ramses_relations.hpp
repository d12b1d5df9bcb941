// What RAMSES' variables have to do with each other, for codecs that predict values.
#pragma once

#include <vector>

#include "data/relation_text.hpp"
#include "importers/ramses/cell_values.hpp"

namespace sidestream::importing {

/// Of each of `columns.variables`. Parents have the means of what RAMSES conserves: density, momentum, energy, and what
/// flows along with the gas; faces of a magnetic field have means of faces, and no divergence. What does not hold in an
/// output does no harm: values come back bit by bit. `dimensions` of the mesh.
[[nodiscard]] std::vector<VariableRelations> relations_of(const ramses::CellColumns& columns, int dimensions);

}  // namespace sidestream::importing
