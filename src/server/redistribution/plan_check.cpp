#include "server/redistribution/plan_check.hpp"

#include "base/fail.hpp"

namespace sidestream {

void check_piece(const PlanPiece& piece, std::span<const PlannedBlock> blocks, int servers, const std::string& name) {
  const bool known = piece.block >= 0 && piece.block < static_cast<std::int64_t>(blocks.size()) && piece.server >= 0 &&
                     piece.server < servers;
  const Block* block = known ? &blocks[static_cast<std::size_t>(piece.block)].block : nullptr;
  if (block && (block->is_list() ? block->cells == piece.cells : block->cells.contains(piece.cells))) return;
  if (block && block->is_list()) {
    fail(Code::analysis,
         "the partitioner '{}' split block {}, which is a list; lists go whole: correct the partitioner", name,
         block->id);
  }
  fail(
      Code::analysis,
      "the partitioner '{}' gave a part of block number {} of {} to server {} of {}, or cells outside the block; correct "
      "the partitioner",
      name, piece.block, blocks.size(), piece.server, servers);
}

bool is_nothing(const PlanPiece& piece, std::span<const PlannedBlock> blocks) {
  return piece.cells.empty() && !blocks[static_cast<std::size_t>(piece.block)].block.is_list();
}

void fail_doubled(const std::string& partitioner, int server, std::int64_t block) {
  fail(Code::analysis, "the partitioner '{}' gave server {} two pieces of block {}; give a server one piece of a block",
       partitioner, server, block);
}

}  // namespace sidestream
