// What one server has of an iteration.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "sidestream/data/block.hpp"
#include "storage/database/chunk_batch.hpp"
#include "storage/database/table.hpp"
#include "storage/trees/linked_tree.hpp"

namespace sidestream::database {

/// What a server has of an iteration, until it is stored. Values that go through codecs are held encoded, others are
/// read where they are.
class Domain {
 public:
  /// Adds one variable on one block. `variable` counts in the schema; `view` stays until the domain is stored.
  void add(std::uint32_t variable, const Variable& declared, const BlockView& view, const Packing& packing,
           const Encoding& encoding) {
    add_cut(variable, declared, view, {}, packing, encoding);
  }
  /// The same of a variable in cells of a tree, whose chunks have the values in those of `cuts`.
  void add_levels(std::uint32_t variable, const Variable& declared, const BlockView& view, const LevelCuts& cuts,
                  const Packing& packing, const Encoding& encoding);
  /// Likewise, of which the chunks are there: of each its bytes and whether these are encoded.
  struct MadeChunk {
    Bytes bytes;
    bool encoded = false;
  };
  void add_made(std::uint32_t variable, const Variable& declared, const BlockView& view,
                const std::vector<MadeChunk>& chunks);

  struct Piece {
    PieceRow row;
    const BlockView* view = nullptr;
    Box points;
    Order order = Order::column;
    std::vector<std::uint64_t> sizes{};  ///< of chunks, in values; empty: every chunk_bytes
    Bytes encoded{};
    bool is_encoded = false;
  };
  [[nodiscard]] std::vector<Piece>& pieces() noexcept { return pieces_; }
  [[nodiscard]] DomainRows& rows() noexcept { return rows_; }
  /// Of values, in the segments.
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept;
  [[nodiscard]] std::uint64_t raw_bytes() const noexcept { return raw_bytes_; }
  /// Writes a piece that is not encoded with `put(offset in the piece, bytes)`, chunk by chunk, and notes checksums.
  void write_raw(Piece& piece, const std::function<void(std::uint64_t, BytesView)>& put);

 private:
  void add_cut(std::uint32_t variable, const Variable& declared, const BlockView& view,
               std::vector<std::uint64_t> sizes, const Packing& packing, const Encoding& encoding);
  [[nodiscard]] Piece new_piece(std::uint32_t variable, const Variable& declared, const BlockView& view);
  std::uint32_t block_row(const Block& block);

  DomainRows rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> row_numbers_;  ///< of blocks, by their checksums
  std::vector<Piece> pieces_;
  std::uint64_t raw_bytes_ = 0;
};

}  // namespace sidestream::database
