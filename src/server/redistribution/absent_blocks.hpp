// Blocks that were declared but not published; in that iteration they cover nothing and own nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/redistribution/block_table.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// A block of a server's clients that lacks a variable, or all blocks of its clients.
struct AbsentBlock {
  std::int32_t variable = -1;
  std::int32_t all = 0;  ///< number of blocks if all are missing; 0: this one block
  std::int64_t block = 0;
  bool operator==(const AbsentBlock&) const noexcept = default;
};

/// Finds the missing blocks of one server's clients in one iteration, by variable, including unpublished variables.
/// Only counts if nothing is missing.
[[nodiscard]] std::vector<AbsentBlock> find_absent(const ServerState& state, const Metadata& metadata);

/// Missing blocks of all servers, the same on each. Costs nothing if nothing is missing.
class AbsentBlocks {
 public:
  /// `metadata` must outlive this object.
  explicit AbsentBlocks(const Metadata& metadata) : metadata_(metadata) {}

  /// Gathers all servers' missing blocks. Collective.
  void gather(const std::vector<AbsentBlock>& mine, Communicator& servers);
  [[nodiscard]] bool none() const noexcept { return found_.empty(); }
  /// Finds the missing blocks in the table, for variables that any client published (`has`). Returns true if the result
  /// changed. Call it after `gather`, and after blocks have changed.
  using Has = std::function<bool(std::int32_t variable)>;
  [[nodiscard]] bool settle(const BlockTable& table, const Has& has);

  /// Number of the set of blocks that lack the variable; 0: none.
  [[nodiscard]] std::size_t set_of(std::int32_t variable) const {
    return sets_.empty() ? 0 : sets_[static_cast<std::size_t>(variable)];
  }
  /// The table without the blocks of a set, which must not be 0.
  [[nodiscard]] const BlockTable& table(std::size_t set) const { return tables_[set - 1].rest; }
  /// Mesh and id of each block that lacks some variable.
  [[nodiscard]] std::set<std::pair<std::int32_t, std::int64_t>> blocks() const;
  /// Clears flags of `covered`, which is by position in the whole table, for blocks that are not covered completely
  /// once the blocks of a set are missing. The set must not be 0.
  void clear_covered(std::size_t set, std::vector<bool>& covered) const;
  /// Readable text about missing blocks; empty if there are none: "'t' is missing on block 5 of the mesh 'grid'".
  [[nodiscard]] std::string text() const;
  /// Names a missing block that lies over or under another block, if there is any: "block 5 of level 1 lies over block
  /// 0 of level 0".
  [[nodiscard]] std::string overlap(const BlockTable& table) const;

 private:
  /// Blocks that lack some variables of one mesh.
  struct Set {
    std::int32_t mesh = 0;
    std::vector<std::int64_t> positions;  ///< in the whole table, ascending
    std::vector<std::int64_t> ids;
    BlockTable rest;
  };
  [[nodiscard]] bool needs(const Variable& variable, std::int32_t other) const;
  [[nodiscard]] std::vector<std::int64_t> positions_of(const Variable& variable, const BlockTable& table) const;
  [[nodiscard]] std::size_t set_for(std::int32_t mesh, std::vector<std::int64_t> positions, const BlockTable& table);

  const Metadata& metadata_;
  struct Found {
    AbsentBlock what;
    std::int32_t server = 0;
  };
  std::vector<Found> found_;
  std::vector<Set> tables_;
  std::vector<std::size_t> sets_;  ///< set numbers by variable; empty: all 0
};

}  // namespace sidestream
