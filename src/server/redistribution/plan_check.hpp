// What a partitioner of a plug-in may get wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sidestream/extend/partitioner.hpp"

namespace sidestream {

/// Throws Error(analysis) unless the piece is part of a block, for a server, that exist; blocks that are lists go
/// whole. A piece without cells is in order: of a list it may be points alone, of a box it is nothing (see is_nothing).
void check_piece(const PlanPiece& piece, std::span<const PlannedBlock> blocks, int servers,
                 const std::string& partitioner);

/// Whether a piece that was checked moves nothing.
[[nodiscard]] bool is_nothing(const PlanPiece& piece, std::span<const PlannedBlock> blocks);

/// Throws the Error(analysis) of a server that got two pieces of the block with this id.
[[noreturn]] void fail_doubled(const std::string& partitioner, int server, std::int64_t block);

}  // namespace sidestream
