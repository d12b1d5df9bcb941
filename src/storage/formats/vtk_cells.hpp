// The cells of lists in a VTK file.
#pragma once

#include "storage/formats/vtk_fields.hpp"

namespace sidestream {

/// The cells of an unstructured block, as published. Throws Error(analysis) if numbers point outside what they count,
/// which readers would follow into other memory.
void write_vtk_cells(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression);

/// A cell for each of `count` points.
void write_vtk_verts(OutputFile& file, Index count, VtkCompression compression);

}  // namespace sidestream
