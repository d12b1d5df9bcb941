// All blocks of all servers, and which points count as whose.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "data/block_index.hpp"
#include "data/covered_cells.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// A block and the server that its client reports to.
struct PlacedBlock {
  Block block;
  std::int32_t server = 0;
};

/// The global view of the meshes' geometry, the same on every server.
class BlockTable {
 public:
  BlockTable() = default;
  explicit BlockTable(std::vector<PlacedBlock> blocks);

  /// Applies what changed, changes[s] on server s in its order. A block that one client gave up and another took over
  /// may be removed and declared in either order. Blocks that are other ones now cost the logarithm of the table's size
  /// each; where some are new or have gone, all move up.
  void apply(const std::vector<std::vector<BlockChange>>& changes);
  /// A block that two clients declare: nobody can tell whose values are meant, and no iteration may be processed.
  struct Repeated {
    std::int32_t mesh = 0;
    std::int64_t id = 0;
    std::int32_t client = 0, other = 0;
  };
  [[nodiscard]] const std::optional<Repeated>& repeated() const noexcept { return repeated_; }

  /// Positions in `blocks` of the non-empty blocks of `mesh` and `level` whose cells, grown by one, overlap `cells`:
  /// neighbours that may share nodes are found.
  [[nodiscard]] std::vector<std::int64_t> near(std::int32_t mesh, std::int32_t level, const Box& cells) const;
  /// The points of `variable` in the block's cells that no block of lower id has: disjoint boxes.
  [[nodiscard]] std::vector<Box> owned(const Variable& variable, const Block& block) const;
  /// The cells of the block's level, in the block and one layer round it, that blocks of finer levels cover whole:
  /// disjoint boxes.
  [[nodiscard]] std::vector<Box> covered(const Mesh& mesh, const Block& block) const;
  /// Which blocks finer levels cover whole, by position; empty if none is. Found when it is first asked for.
  [[nodiscard]] const std::vector<bool>& wholly_covered(const Metadata& metadata) const;
  /// Of each mesh that has any a cell that finer blocks cover in part. Found when it is first asked for.
  [[nodiscard]] const std::vector<CoveredInPart>& covered_in_part(const Metadata& metadata) const;
  /// Two blocks of one mesh and level that have cells in common, if there are any among those that changed last, or
  /// `of_all`, and what they meet. Those that are `ignored` are not looked at.
  [[nodiscard]] std::optional<std::pair<Block, Block>> overlap(
      bool of_all = false, const std::function<bool(const Block&)>& ignored = [](const Block&) { return false; }) const;
  /// In the order of clients, meshes and ids.
  [[nodiscard]] const std::vector<Block>& blocks() const noexcept { return blocks_; }
  /// The server of the client that has blocks()[position].
  [[nodiscard]] std::int32_t server(std::int64_t position) const {
    return servers_.at(static_cast<std::size_t>(position));
  }

 private:
  using Name = std::pair<std::int32_t, std::int64_t>;  ///< mesh and id
  /// Names that `apply` was told of, and the block that each stood for before.
  using Before = std::map<Name, std::optional<PlacedBlock>>;
  [[nodiscard]] const PlacedBlock* find(const Name& name) const;
  void declare(const std::vector<std::vector<BlockChange>>& changes, Before& before);
  void note_repeated(const Before& before);
  void update(const Before& before);
  [[nodiscard]] bool replace(const PlacedBlock& before, const PlacedBlock& after);
  void merge(const std::vector<Block>& gone, std::vector<PlacedBlock> fresh);
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
