// Which blocks a part that goes by values needs, decided by the servers whose clients have them.
#pragma once

#include <span>
#include <vector>

#include "server/redistribution/block_table.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// The range that a part is decided by; variable -1: none.
[[nodiscard]] RangeRequest range_of(const Selected& selected);

/// For each of some parts a flag for each block of the table, as Needs gives them.
using Decisions = std::vector<std::vector<bool>>;

/// Collective, with the same table and the same parts everywhere; the same result everywhere. `mine`: the ranges that
/// the parts go by, of the blocks of this server's clients. Ranges go no further than to servers that have blocks just
/// below, or beside them on other levels; what all are told is which blocks are needed, a bit for each block or a
/// number for each that is, whichever is less.
[[nodiscard]] Decisions decide_by_ranges(const Metadata& metadata, const BlockTable& table,
                                         std::span<const Selected> parts, std::span<const BlockRange> mine,
                                         Communicator& servers);

}  // namespace sidestream
