// The tables of the parts of a context that a server has written.
#pragma once

#include <algorithm>
#include <vector>

#include "storage/database/domain.hpp"

namespace sidestream::database {

struct WrittenRows {
  DomainRows rows;
  std::uint64_t raw_bytes = 0;  ///< of values, before codecs

  /// Adds what a domain had: blocks and chunks count on from those that are here. Nothing is added if there is no
  /// memory.
  void take(Domain& domain) {
    DomainRows& from = domain.rows();
    make_room(rows.blocks, from.blocks.size());
    make_room(rows.rows.pieces, domain.pieces().size());
    make_room(rows.rows.chunks, from.rows.chunks.size());
    for (const Domain::Piece& piece : domain.pieces()) {
      PieceRow row = piece.row;
      row.block += static_cast<std::uint32_t>(rows.blocks.size());
      row.chunk += rows.rows.chunks.size();
      rows.rows.pieces.push_back(row);
    }
    rows.blocks.insert(rows.blocks.end(), from.blocks.begin(), from.blocks.end());
    rows.rows.chunks.insert(rows.rows.chunks.end(), from.rows.chunks.begin(), from.rows.chunks.end());
    raw_bytes += domain.raw_bytes();
  }

 private:
  template <class Row>
  static void make_room(std::vector<Row>& there, std::size_t more) {
    const std::size_t needed = there.size() + more;
    if (needed > there.capacity()) there.reserve(std::max(needed, 2 * there.capacity()));
  }
};

}  // namespace sidestream::database
