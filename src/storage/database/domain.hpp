// One server's part of an iteration, and the encoding of its chunks by several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/worker_pool.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/extend/tree_codec.hpp"
#include "storage/codecs/packing.hpp"
#include "storage/database/layout.hpp"
#include "storage/database/table.hpp"
#include "storage/trees/linked_tree.hpp"

namespace sidestream::database {

/// The encoders for all pieces of a domain.
struct Encoding {
  WorkerPool* pool = nullptr;
  PackingPace pace{};
  std::shared_ptr<const TreeCodec> of_trees{};  ///< null if no variable uses it
};

/// Encodes chunks in parallel. Rows and bytes have the order of `add`, for any number of threads.
class ChunkBatch {
 public:
  ChunkBatch(const Encoding& encoding, const Packing& packing, std::vector<ChunkRow>& rows, Bytes& out)
      : encoding_(encoding), packing_(packing), rows_(rows), out_(out) {}
  /// `stays`: the bytes remain valid until `finish` has returned. Others are copied.
  void add(BytesView raw, bool stays, const ChunkPlace& place = {});
  void finish();

 private:
  struct Job {
    Bytes copy{};
    BytesView raw{};
    ChunkPlace place{};
    Bytes encoded{};
    std::uint32_t list = 0;
    std::uint64_t checksum = 0;
    [[nodiscard]] BytesView kept() const { return list > 0 ? BytesView(encoded) : raw; }
  };
  [[nodiscard]] std::size_t most() const { return static_cast<std::size_t>(encoding_.pool->threads()) * 2; }

  const Encoding& encoding_;
  const Packing& packing_;
  std::vector<ChunkRow>& rows_;
  Bytes& out_;
  std::vector<Job> jobs_;  ///< the first `filled_` wait; all keep their memory
  std::size_t filled_ = 0;
};

/// One server's part of an iteration, until it is stored. Values that go through codecs are kept encoded; others are
/// read in place.
class Domain {
 public:
  /// Adds one variable on one block. `variable` is its number in the schema. `view` must live until the domain is
  /// stored.
  void add(std::uint32_t variable, const Variable& declared, const BlockView& view, const Packing& packing,
           const Encoding& encoding) {
    add_cut(variable, declared, view, {}, packing, encoding);
  }
  /// Adds a variable in cells of a tree, with chunks cut as in `cuts`.
  void add_levels(std::uint32_t variable, const Variable& declared, const BlockView& view, const LevelCuts& cuts,
                  const Packing& packing, const Encoding& encoding);
  /// A finished chunk: its bytes, and true if these are encoded.
  struct MadeChunk {
    Bytes bytes;
    bool encoded = false;
  };
  /// Adds a variable in cells of a tree whose chunks exist already.
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
  /// Bytes of values in the segments.
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept;
  [[nodiscard]] std::uint64_t raw_bytes() const noexcept { return raw_bytes_; }
  /// Writes a piece that is not encoded with `put(offset in the piece, bytes)`, chunk by chunk, and records checksums.
  void write_raw(Piece& piece, const std::function<void(std::uint64_t, BytesView)>& put);

 private:
  void add_cut(std::uint32_t variable, const Variable& declared, const BlockView& view,
               std::vector<std::uint64_t> sizes, const Packing& packing, const Encoding& encoding);
  [[nodiscard]] Piece new_piece(std::uint32_t variable, const Variable& declared, const BlockView& view);
  std::uint32_t block_row(const Block& block);

  DomainRows rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> row_numbers_;  ///< row numbers of blocks, by their checksums
  std::vector<Piece> pieces_;
  std::uint64_t raw_bytes_ = 0;
};

}  // namespace sidestream::database
