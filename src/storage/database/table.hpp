// The tables of a group in a context: blocks, pieces, chunks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/database/layout.hpp"

namespace sidestream::database {

/// The rest of a table: pieces in ascending order of variable, then block, and the chunks of each in a row.
struct Pieces {
  std::vector<PieceRow> pieces;
  std::vector<ChunkRow> chunks;
};

/// The rows of one contributor. Numbers of blocks and chunks count its own.
struct DomainRows {
  std::vector<BlockRow> blocks;
  Pieces rows;
};

/// The tables of a group as they lie in a segment, and the entry in the record without the place.
struct PackedTable {
  Bytes bytes;
  GroupEntry entry;
};
[[nodiscard]] PackedTable pack_table(const std::vector<DomainRows>& domains);

/// Bytes of the blocks, and of the rest, of a group. Throws Error(file) where numbers do not fit 64 bits.
[[nodiscard]] std::uint64_t blocks_bytes(const GroupEntry& group, const std::string& where);
[[nodiscard]] std::uint64_t rest_bytes(const GroupEntry& group, const std::string& where);

/// Values of a piece, before codecs. Throws Error(file) where the number does not fit.
[[nodiscard]] std::uint64_t bytes_of_piece(const Variable& variable, const Block& block, const std::string& where);

/// Checks that each piece is of a variable and a block that exist, in chunks that exist and fill it, in segments of the
/// group. Throws Error(file).
void check_pieces(const Pieces& rows, std::span<const Block> blocks, const Metadata& metadata, std::uint64_t chunk,
                  const GroupEntry& group, const std::string& where);

}  // namespace sidestream::database
