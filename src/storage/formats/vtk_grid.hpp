// Uniform and rectilinear meshes as VTK XML: a file per block (.vti, .vtr) and one that lists them (.pvti,
// .pvtr).
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"
#include "storage/formats/vtk_xml.hpp"

namespace sidestream {

/// Whether VTK has a grid for this kind of mesh here: uniform or rectilinear.
[[nodiscard]] bool has_vtk_grid(const Mesh& mesh) noexcept;
/// `.vti` or `.vtr`; with `parallel` `.pvti` or `.pvtr`.
[[nodiscard]] std::string vtk_grid_ending(const Mesh& mesh, bool parallel);

/// A variable with the block that holds its values; null: not delivered, written as not-a-number or 0.
struct GridArray {
  const Variable* variable = nullptr;
  const BlockView* values = nullptr;
};

/// Writes one block with cells `cells` of `mesh`. Values are in VTK's order, i fastest, whatever their own.
void write_vtk_block(const std::string& path, const Mesh& mesh, const Box& cells, const std::vector<GridArray>& arrays,
                     const Iteration& iteration, const std::string& provenance, VtkCompression compression);

/// One block in the file that lists them.
struct GridPiece {
  Box cells;
  std::string source;  ///< file, relative to the list
};

/// Writes the list. Readers show the mesh as a whole.
void write_vtk_grid(const std::string& path, const Mesh& mesh, const std::vector<const Variable*>& variables,
                    const std::vector<GridPiece>& pieces, const Iteration& iteration, const std::string& provenance);

}  // namespace sidestream
