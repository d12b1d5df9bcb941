// Blocks of every kind of mesh as VTK XML: one file for each block, and a file that lists them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "storage/formats/vtk_fields.hpp"

namespace sidestream {

/// The reason why VTK cannot represent a mesh, as the end of a sentence that begins with its name; empty if it can.
[[nodiscard]] std::string why_not_vtk(const Mesh& mesh);
/// Ending of a block's file: `.vti`, `.vtr`, `.vts`, `.vtu` or `.vtp`.
[[nodiscard]] std::string vtk_block_ending(const Mesh& mesh);
/// Ending of the file that lists blocks: the block's with a p (`.pvti`); `.vtm` for meshes with refinement levels.
[[nodiscard]] std::string vtk_list_ending(const Mesh& mesh);
/// True if the list must cover all cells of the mesh, since VTK's readers refuse gaps between boxes.
[[nodiscard]] bool vtk_wants_all_cells(const Mesh& mesh) noexcept;

/// True if the arrays of the block's geometry were delivered; without them it cannot be written.
[[nodiscard]] bool has_structure(const Mesh& mesh, const VtkBlock& block) noexcept;

/// Writes one block. Values are in VTK's order, i fastest, whatever their order in memory. Throws Error(analysis) if
/// the geometry contradicts itself. `level_times`: times of levels, if they differ.
void write_vtk_block(const std::string& path, const Mesh& mesh, const VtkBlock& block, const Iteration& iteration,
                     const std::string& provenance, VtkCompression compression,
                     std::span<const double> level_times = {});

/// An entry of the file that lists blocks.
struct VtkPiece {
  Block block;
  std::string source;  ///< path relative to the list
};

/// Writes the list. Readers show the whole mesh; at nodes that boxes share, the later piece wins. `variables` includes
/// the arrays of the mesh. Pieces of a mesh with levels are sorted by level.
void write_vtk_list(const std::string& path, const Mesh& mesh, const std::vector<VtkVariable>& variables,
                    const std::vector<VtkPiece>& pieces, const Iteration& iteration, const std::string& provenance,
                    std::span<const double> level_times = {});

}  // namespace sidestream
