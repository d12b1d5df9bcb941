#include "storage/database/domain.hpp"

#include <algorithm>
#include <cstring>

#include "base/records.hpp"
#include "storage/slabs.hpp"

namespace sidestream::database {

namespace {

/// Cuts bytes that come in any lengths into chunks.
class Cutter {
 public:
  explicit Cutter(const std::function<void(BytesView)>& emit) : emit_(emit) {}
  void add(BytesView bytes) {
    while (!bytes.empty()) {
      if (kept_.empty() && bytes.size() >= chunk_bytes) {
        emit_(bytes.first(chunk_bytes));
        bytes = bytes.subspan(chunk_bytes);
        continue;
      }
      const std::size_t size = std::min<std::size_t>(bytes.size(), chunk_bytes - kept_.size());
      kept_.insert(kept_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      bytes = bytes.subspan(size);
      if (kept_.size() == chunk_bytes) end();
    }
  }
  void end() {
    if (!kept_.empty()) emit_(kept_);
    kept_.clear();
  }

 private:
  const std::function<void(BytesView)>& emit_;
  Bytes kept_;
};

void cut_values(const BlockView& view, const Box& points, Order order, const std::function<void(BytesView)>& emit) {
  Cutter cutter(emit);
  for_each_slab(view.array, points, order, chunk_bytes, [&](BytesView bytes, const Box&) { cutter.add(bytes); });
  cutter.end();
}

}  // namespace

std::uint32_t Domain::block_row(const Block& block) {
  const BlockRow row = row_of(block);
  const auto [found, is_new] =
      row_numbers_.try_emplace(checksum_of(sidestream::bytes_of(row)), static_cast<std::uint32_t>(rows_.blocks.size()));
  if (!is_new && std::memcmp(&rows_.blocks[found->second], &row, sizeof row) == 0) return found->second;
  rows_.blocks.push_back(row);
  return static_cast<std::uint32_t>(rows_.blocks.size() - 1);
}

void Domain::add(std::uint32_t variable, const Variable& declared, const BlockView& view, const Packing& packing,
                 const Encoding& encoding) {
  const std::uint64_t bytes = packed_bytes(view.points, declared.components, declared.type);
  Piece piece;
  piece.row.variable = variable;
  piece.row.block = block_row(view.block);
  piece.row.bytes = bytes;
  piece.row.chunk = rows_.rows.chunks.size();
  piece.view = &view;
  piece.points = view.points;
  piece.order = declared.order;
  std::vector<ChunkRow>& chunks = rows_.rows.chunks;
  if (packing.empty()) {
    chunks.resize(chunks.size() + (bytes + chunk_bytes - 1) / chunk_bytes);
  } else {
    ChunkBatch batch(encoding, packing, chunks, piece.encoded);
    // Whole chunks of an array without gaps are where the array is.
    const bool gapless = is_gapless(view.array, view.points, declared.order);
    cut_values(view, view.points, declared.order,
               [&](BytesView raw) { batch.add(raw, gapless && raw.size() == chunk_bytes); });
    batch.finish();
    piece.is_encoded = true;
    piece.row.bytes = piece.encoded.size();
  }
  raw_bytes_ += bytes;
  pieces_.push_back(std::move(piece));
}

std::uint64_t Domain::stored_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces_) bytes += piece.row.bytes;
  return bytes;
}

void Domain::write_raw(Piece& piece, const std::function<void(std::uint64_t, BytesView)>& put) {
  std::uint64_t offset = 0;
  ChunkRow* row = rows_.rows.chunks.data() + piece.row.chunk;
  cut_values(*piece.view, piece.points, piece.order, [&](BytesView bytes) {
    *row++ = {static_cast<std::uint32_t>(bytes.size()), 0, checksum_of(bytes)};
    put(offset, bytes);
    offset += bytes.size();
  });
}

}  // namespace sidestream::database
