// Blocks of every kind of mesh as VTK XML: a file each, and one that lists them.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "storage/formats/vtk_fields.hpp"

namespace sidestream {

/// Why VTK has no form for a mesh, as the end of a sentence that begins with its name; empty if it has one.
[[nodiscard]] std::string why_not_vtk(const Mesh& mesh);
/// Ending of a block's file: `.vti`, `.vtr`, `.vts`, `.vtu` or `.vtp`.
[[nodiscard]] std::string vtk_block_ending(const Mesh& mesh);
/// Ending of the file that lists blocks: the same with a p (`.pvti`), `.vtm` of meshes with refinement levels.
[[nodiscard]] std::string vtk_list_ending(const Mesh& mesh);
/// Whether the list must cover all cells of the mesh: VTK's readers refuse gaps between boxes.
[[nodiscard]] bool vtk_wants_all_cells(const Mesh& mesh) noexcept;

/// Whether what says where the block is has come; without that it cannot be written.
[[nodiscard]] bool has_structure(const Mesh& mesh, const VtkBlock& block) noexcept;

/// Writes one block. Values are in VTK's order, i fastest, whatever their own. Throws Error(analysis) if what says
/// where the cells are contradicts itself.
void write_vtk_block(const std::string& path, const Mesh& mesh, const VtkBlock& block, const Iteration& iteration,
                     const std::string& provenance, VtkCompression compression);

/// One block in the file that lists them.
struct VtkPiece {
  Block block;
  std::string source;  ///< file, relative to the list
};

/// Writes the list. Readers show the mesh as a whole; where boxes share nodes the later piece counts. `variables`: the
/// arrays of the mesh among them. Pieces of a mesh with levels are in the order of levels.
void write_vtk_list(const std::string& path, const Mesh& mesh, const std::vector<const Variable*>& variables,
                    const std::vector<VtkPiece>& pieces, const Iteration& iteration, const std::string& provenance);

}  // namespace sidestream
