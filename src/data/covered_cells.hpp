// What finer levels cover.
#pragma once

#include <span>
#include <vector>

#include "data/block_index.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// The cells of the block's level, in the block and one layer round it, that blocks of finer levels cover whole:
/// disjoint boxes. `blocks`: all of the mesh, of which `index` was made.
[[nodiscard]] std::vector<Box> covered_cells(const Mesh& mesh, const Block& block, std::span<const Block> blocks,
                                             const BlockIndex& index);

/// Which blocks finer levels cover whole.
class WhollyCovered {
 public:
  /// `blocks`: all of all meshes. Keeps references.
  WhollyCovered(const Metadata& metadata, std::span<const Block> blocks) : metadata_(metadata), blocks_(blocks) {}
  /// Takes them off `needed`, which has an entry for each block, if what is selected can do without them.
  void take_off(const Selected& selected, std::vector<bool>& needed);

 private:
  void find();
  const Metadata& metadata_;
  std::span<const Block> blocks_;
  bool found_ = false;
  std::vector<bool> covered_;  ///< empty: none is
};

}  // namespace sidestream
