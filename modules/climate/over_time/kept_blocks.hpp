// All that a server keeps of the blocks of a window; it follows blocks from server to server.
//
// A block finds what is kept of it by its id and its points. Where none fits, the servers exchange: each names the
// blocks that it lacks, and gets from the others what they keep for the same cells of the same level. So a cell keeps
// its history when blocks are cut in other places, after a restart too. Lists only fit as wholes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "climate/over_time/accumulation.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::over_time {

struct KeptBlock {
  std::int32_t entry = 0;  ///< number of the variable among those of the task
  Block block;
  Box points;
  Accumulation values;
  bool fresh = false;  ///< nothing of other servers was looked up for it yet
  bool here = false;   ///< it is a block of this server in this iteration
};

/// All that a server keeps.
class KeptBlocks {
 public:
  /// `variables` by entry.
  KeptBlocks(const Needed& needs, std::vector<Variable> variables) : needs_(needs), variables_(std::move(variables)) {}

  /// Begins an iteration, for which `find` is called for each block that is here.
  void begin();
  /// The sums of a block here, made if there are none.
  [[nodiscard]] KeptBlock& find(std::int32_t entry, const Block& block);
  [[nodiscard]] std::vector<KeptBlock>& all() noexcept { return kept_; }
  /// True if some block here is fresh; true if something is kept of blocks that are not here.
  [[nodiscard]] bool lacks() const noexcept;
  [[nodiscard]] bool has_more() const noexcept;
  /// Collective: gives the fresh blocks of all servers what any server keeps of their cells.
  void exchange(Communicator& servers);
  /// Nothing is fresh any more, and empty blocks that are not here are forgotten. Follows the exchange, if any.
  void settle() noexcept;
  /// Begins a new window: forgets blocks that are not here, and all values.
  void reset();
  void clear() noexcept { kept_.clear(); }
  [[nodiscard]] std::size_t bytes() const noexcept;

  void put(ByteWriter& writer) const;
  /// Adds what `put` wrote.
  void get(ByteReader& reader);

 private:
  struct Wanted {
    std::int32_t entry;
    Block block;
  };
  [[nodiscard]] Box overlap(const KeptBlock& kept, const Wanted& wanted) const;
  void put_part(ByteWriter& writer, const KeptBlock& kept, const Box& region) const;
  [[nodiscard]] KeptBlock got_part(ByteReader& reader) const;
  void take(std::vector<KeptBlock> parts);
  void give_up(std::span<const Wanted> wanted);

  Needed needs_;
  std::vector<Variable> variables_;
  std::vector<KeptBlock> kept_;  ///< by entry and id, those of one id in the order of their points
};

}  // namespace sidestream::over_time
