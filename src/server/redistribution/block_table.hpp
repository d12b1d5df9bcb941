// Table of all blocks of all servers, and the points that each block owns.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "data/levels.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/transport.hpp"
#include "sidestream/kit/data/block_index.hpp"

namespace sidestream {

/// A block and the server that its client reports to.
struct PlacedBlock {
  Block block;
  std::int32_t server = 0;
};

/// Global view of the meshes' geometry, the same on every server.
class BlockTable {
 public:
  BlockTable() = default;
  explicit BlockTable(std::vector<PlacedBlock> blocks);

  /// Applies changes; changes[s] came from server s, in its order. If a block moves between clients, its removal and
  /// its declaration may come in either order. Replacing a block takes logarithmic time in the table's size; adding or
  /// removing any block rebuilds the whole table.
  void apply(const std::vector<std::vector<BlockChange>>& changes);
  /// A block that two clients declare. Its values are ambiguous, so no iteration may be processed.
  struct Repeated {
    std::int32_t mesh = 0;
    std::int64_t id = 0;
    std::int32_t client = 0, other = 0;
  };
  [[nodiscard]] const std::optional<Repeated>& repeated() const noexcept { return repeated_; }

  /// Positions in `blocks` of the non-empty blocks of `mesh` and `level` whose cells, grown by one, overlap `cells`.
  /// This finds neighbours that may share nodes.
  [[nodiscard]] std::vector<std::int64_t> near(std::int32_t mesh, std::int32_t level, const Box& cells) const;
  /// The points of `variable` in the block's cells that belong to no block of lower id: disjoint boxes.
  [[nodiscard]] std::vector<Box> owned(const Variable& variable, const Block& block) const;
  /// Cells on the block's level, in the block and one layer around it, that finer levels cover completely: disjoint
  /// boxes.
  [[nodiscard]] std::vector<Box> covered(const Mesh& mesh, const Block& block) const;
  /// Blocks that finer levels cover completely, by position; empty if there are none. Computed on first use.
  [[nodiscard]] const std::vector<bool>& wholly_covered(const Metadata& metadata) const;
  /// For each mesh a cell that finer blocks cover only partly, if there is any. Computed on first use.
  [[nodiscard]] const std::vector<CoveredInPart>& covered_in_part(const Metadata& metadata) const;
  /// Finds two overlapping blocks of one mesh and level, among those that the last `apply` changed and their
  /// neighbours, or among all (`of_all`). Skips `ignored` blocks.
  [[nodiscard]] std::optional<std::pair<Block, Block>> overlap(
      bool of_all = false, const std::function<bool(const Block&)>& ignored = [](const Block&) { return false; }) const;
  /// The spatial index of `blocks`.
  [[nodiscard]] const BlockIndex& index() const noexcept { return index_; }
  /// Sorted by client, mesh and id.
  [[nodiscard]] const std::vector<Block>& blocks() const noexcept { return blocks_; }
  /// Server of the client that owns blocks()[position].
  [[nodiscard]] std::int32_t server(std::int64_t position) const {
    return servers_.at(static_cast<std::size_t>(position));
  }

 private:
  using Name = std::pair<std::int32_t, std::int64_t>;  ///< mesh and id
  /// Names that an update changes, each with its visible block before.
  using Before = std::map<Name, std::optional<PlacedBlock>>;
  [[nodiscard]] const PlacedBlock* find(const Name& name) const;
  void declare(const std::vector<std::vector<BlockChange>>& changes, Before& before);
  void note_repeated(const Before& before);
  void update(const Before& before);
  [[nodiscard]] bool replace(const PlacedBlock& before, const PlacedBlock& after);
  void merge(const std::vector<Block>& leaving, std::vector<PlacedBlock> fresh);
  [[nodiscard]] std::int64_t position_of(const Block& block) const;
  [[nodiscard]] static std::tuple<std::int32_t, std::int64_t, std::int32_t> key_of(const Block& block) {
    return {block.mesh, block.id, block.client};
  }
  std::map<std::tuple<std::int32_t, std::int64_t, std::int32_t>, PlacedBlock> declared_;  ///< by mesh, id and client
  std::set<Name> repeats_;
  std::optional<Repeated> repeated_;
  std::vector<Block> blocks_;
  std::vector<std::int32_t> servers_;
  BlockIndex index_;
  mutable std::optional<std::vector<bool>> covered_;
  mutable std::optional<std::vector<CoveredInPart>> in_part_;
  std::vector<std::int64_t> changed_;  ///< positions of blocks that the last `apply` changed, ascending
};

}  // namespace sidestream
