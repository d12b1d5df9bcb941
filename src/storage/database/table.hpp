// The tables of a group in a context: blocks, pieces, chunks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/database/layout.hpp"

namespace sidestream::database {

/// The second part of a table: pieces in ascending order of variable, then block, and the chunks of each.
struct Pieces {
  std::vector<PieceRow> pieces;
  std::vector<ChunkRow> chunks;
};

/// The rows of one contributor. Numbers of blocks and chunks are local to it.
struct DomainRows {
  std::vector<BlockRow> blocks;
  Pieces rows;
};

/// The tables of a group in their stored form, and the entry in the record except its place.
struct PackedTable {
  Bytes bytes;
  GroupEntry entry;
};
[[nodiscard]] PackedTable pack_table(const std::vector<DomainRows>& domains);

/// Number of bytes of a group's blocks, and of the rest of its tables. Throws Error(file) if they do not fit 64 bits.
[[nodiscard]] std::uint64_t blocks_bytes(const GroupEntry& group, const std::string& where);
[[nodiscard]] std::uint64_t rest_bytes(const GroupEntry& group, const std::string& where);

/// Bytes of a piece's values before codecs. Throws Error(file) if the number does not fit.
[[nodiscard]] std::uint64_t bytes_of_piece(const Variable& variable, const Block& block, const std::string& where);

/// Checks that each piece refers to an existing variable and block, has existing chunks that fill it, and lies in
/// segments of the group. Throws Error(file).
void check_pieces(const Pieces& rows, std::span<const Block> blocks, const Metadata& metadata, std::uint64_t chunk,
                  const GroupEntry& group, const std::string& where);

}  // namespace sidestream::database
