// Blocks needed by a part that depends on values, decided by the servers whose clients own them.
#pragma once

#include <span>
#include <vector>

#include "server/redistribution/block_table.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// The range that decides on a part; variable -1: none.
[[nodiscard]] RangeRequest range_of(const Selected& selected);

/// For each part a flag for each block of the table, as from Needs.
using Decisions = std::vector<std::vector<bool>>;

/// Collective, with the same table and parts on all servers, and the same result. `mine`: the ranges of this server's
/// blocks that the parts depend on. Ranges are sent only to servers of blocks just below, or adjacent on other levels.
/// All servers get the decisions, as a bit for each block or a number for each needed one, whichever is smaller.
[[nodiscard]] Decisions decide_by_ranges(const Metadata& metadata, const BlockTable& table,
                                         std::span<const Selected> parts, std::span<const BlockRange> mine,
                                         Communicator& servers);

}  // namespace sidestream
