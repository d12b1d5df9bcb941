// Blocks that were declared and not published: they cover nothing and own nothing in the iteration.
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

/// A block of one of a server's clients for which a variable did not come, or all of its clients' blocks.
struct AbsentBlock {
  std::int32_t variable = -1;
  std::int32_t all = 0;  ///< how many these are; 0: it is one
  std::int64_t block = 0;
  bool operator==(const AbsentBlock&) const noexcept = default;
};

/// Of one server's clients in one iteration, by variable; also of variables that nobody published. Where all came it
/// only counts.
[[nodiscard]] std::vector<AbsentBlock> find_absent(const ServerState& state, const Metadata& metadata);

/// What is absent on all servers, the same on each. Costs nothing where nothing is.
class AbsentBlocks {
 public:
  /// `metadata` outlives it.
  explicit AbsentBlocks(const Metadata& metadata) : metadata_(metadata) {}

  /// Collective: what each server found.
  void gather(const std::vector<AbsentBlock>& mine, Communicator& servers);
  [[nodiscard]] bool none() const noexcept { return found_.empty(); }
  /// After `gather`, or after blocks have changed: finds the blocks in the table, of variables that somebody published
  /// (`has`). True if anything is other than it was before.
  using Has = std::function<bool(std::int32_t variable)>;
  [[nodiscard]] bool settle(const BlockTable& table, const Has& has);

  /// A number for the set of blocks that the variable is absent on; 0: on none.
  [[nodiscard]] std::size_t set_of(std::int32_t variable) const {
    return sets_.empty() ? 0 : sets_[static_cast<std::size_t>(variable)];
  }
  /// The table without these blocks; for a set that is not 0.
  [[nodiscard]] const BlockTable& table(std::size_t set) const { return tables_[set - 1].rest; }
  /// Mesh and id of each block that some variable is absent on.
  [[nodiscard]] std::set<std::pair<std::int32_t, std::int64_t>> blocks() const;
  /// Takes off `covered`, by position in the whole table, the blocks that finer ones cover whole only together with
  /// those of a set that is not 0.
  void uncover(std::size_t set, std::vector<bool>& covered) const;
  /// What is absent for people; empty if nothing: "'t' is missing on block 5 of the mesh 'grid'".
  [[nodiscard]] std::string text() const;
  /// A block that is absent and lies over others or under them, with one of them, if there is any: "block 5 of level 1
  /// lies over block 0 of level 0".
  [[nodiscard]] std::string overlap(const BlockTable& table) const;

 private:
  /// The blocks that some variables of one mesh are absent on.
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
  std::vector<std::size_t> sets_;  ///< by variable; empty: all 0
};

}  // namespace sidestream
