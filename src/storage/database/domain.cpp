// A server's part of a context, between `local` and `combine`.
//
// 1. add_cut: cuts a block's values into chunks of equal size, or by level of a tree. Chunks with codecs are encoded at
//    once, a batch at a time on the pool of threads, and kept in memory.
// 2. Values without codecs stay where they are. write_raw cuts them again when they are written, and only then computes
//    their checksums.
// Nothing communicates. The rows of blocks, pieces and chunks become the group's table.
#include "storage/database/domain.hpp"

#include <algorithm>
#include <cstring>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/box_values.hpp"

namespace sidestream::database {

void ChunkBatch::add(BytesView raw, bool stays, const ChunkPlace& place) {
  if (filled_ == jobs_.size()) jobs_.emplace_back();
  Job& job = jobs_[filled_];
  job.place = place;
  // With one thread, encode the chunk before the caller continues.
  if (stays || most() <= 2) {
    job.raw = raw;
  } else {
    job.copy.assign(raw.begin(), raw.end());
    job.raw = job.copy;
  }
  ++filled_;
  if (filled_ >= most() || most() <= 2) finish();
}

void ChunkBatch::finish() {
  encoding_.pool->for_each(filled_, [this](std::size_t n) {
    Job& job = jobs_[n];
    job.list = packing_.encode(job.raw, job.encoded, encoding_.pace, job.place);
    job.checksum = checksum_of(job.kept());
  });
  for (std::size_t n = 0; n < filled_; ++n) {
    const BytesView kept = jobs_[n].kept();
    rows_.push_back({static_cast<std::uint32_t>(kept.size()), jobs_[n].list, jobs_[n].checksum});
    out_.insert(out_.end(), kept.begin(), kept.end());
  }
  filled_ = 0;
}

namespace {

/// Cuts a stream of bytes into chunks of the given sizes, or of chunk_bytes each.
class Cutter {
 public:
  Cutter(const std::vector<std::uint64_t>& sizes, const std::function<void(BytesView)>& emit)
      : sizes_(sizes), emit_(emit) {}
  void add(BytesView bytes) {
    while (!bytes.empty()) {
      const std::size_t whole = size();
      if (kept_.empty() && bytes.size() >= whole) {
        put(bytes.first(whole));
        bytes = bytes.subspan(whole);
        continue;
      }
      const std::size_t part = std::min<std::size_t>(bytes.size(), whole - kept_.size());
      kept_.insert(kept_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
      bytes = bytes.subspan(part);
      if (kept_.size() == whole) end();
    }
  }
  void end() {
    if (!kept_.empty()) put(kept_);
    kept_.clear();
  }

 private:
  [[nodiscard]] std::size_t size() const { return sizes_.empty() ? chunk_bytes : sizes_[number_]; }
  void put(BytesView chunk) {
    emit_(chunk);
    ++number_;
  }

  const std::vector<std::uint64_t>& sizes_;
  const std::function<void(BytesView)>& emit_;
  std::size_t number_ = 0;
  Bytes kept_;
};

void cut_values(const BlockView& view, const Domain::Piece& piece, const std::function<void(BytesView)>& emit) {
  Cutter cutter(piece.sizes, emit);
  for_each_slab(view.array, piece.points, piece.order, chunk_bytes,
                [&](BytesView bytes, const Box&) { cutter.add(bytes); });
  cutter.end();
}

/// The array of a piece, with its axes in memory order.
ChunkPlace place_of(const Variable& declared, const Box& points) {
  ChunkPlace place;
  for (std::size_t n = 0; n < 3; ++n) {
    const std::size_t axis = declared.order == Order::column ? n : 2 - n;
    place.points[n] = static_cast<std::uint64_t>(points.extent(static_cast<int>(axis)));
  }
  place.components = static_cast<std::uint64_t>(declared.components);
  return place;
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

Domain::Piece Domain::new_piece(std::uint32_t variable, const Variable& declared, const BlockView& view) {
  Piece piece;
  piece.row.variable = variable;
  piece.row.block = block_row(view.block);
  piece.row.bytes = packed_bytes(view.points, declared.components, declared.type);
  piece.row.chunk = rows_.rows.chunks.size();
  piece.view = &view;
  piece.points = view.points;
  piece.order = declared.order;
  raw_bytes_ += piece.row.bytes;
  return piece;
}

void Domain::add_cut(std::uint32_t variable, const Variable& declared, const BlockView& view,
                     std::vector<std::uint64_t> sizes, const Packing& packing, const Encoding& encoding) {
  Piece piece = new_piece(variable, declared, view);
  piece.sizes = std::move(sizes);
  piece.row.chunks = static_cast<std::uint32_t>(piece.sizes.size());
  std::vector<ChunkRow>& chunks = rows_.rows.chunks;
  if (packing.empty()) {
    const std::uint64_t plain = (piece.row.bytes + chunk_bytes - 1) / chunk_bytes;
    chunks.resize(chunks.size() + (piece.sizes.empty() ? plain : piece.sizes.size()));
  } else {
    ChunkBatch batch(encoding, packing, chunks, piece.encoded);
    // Whole chunks of a contiguous array are used in place.
    const bool gapless = is_gapless(view.array, view.points, declared.order);
    const bool by_level = !piece.sizes.empty();
    ChunkPlace place = place_of(declared, view.points);
    cut_values(view, piece, [&](BytesView raw) {
      batch.add(raw, gapless && (by_level || raw.size() == chunk_bytes), place);
      place.first += raw.size() / size_of(declared.type);
    });
    batch.finish();
    piece.is_encoded = true;
    piece.row.bytes = piece.encoded.size();
  }
  pieces_.push_back(std::move(piece));
}

void Domain::add_levels(std::uint32_t variable, const Variable& declared, const BlockView& view, const LevelCuts& cuts,
                        const Packing& packing, const Encoding& encoding) {
  const std::uint64_t cell = size_of(declared.type) * static_cast<std::uint64_t>(declared.components);
  std::vector<std::uint64_t> sizes;
  for (std::size_t n = 0; n < cuts.chunks(); ++n) {
    sizes.push_back(static_cast<std::uint64_t>(cuts.cells[n + 1] - cuts.cells[n]) * cell);
  }
  add_cut(variable, declared, view, std::move(sizes), packing, encoding);
}

void Domain::add_made(std::uint32_t variable, const Variable& declared, const BlockView& view,
                      const std::vector<MadeChunk>& chunks) {
  Piece piece = new_piece(variable, declared, view);
  piece.row.chunks = static_cast<std::uint32_t>(chunks.size());
  for (const MadeChunk& chunk : chunks) {
    rows_.rows.chunks.push_back(
        {static_cast<std::uint32_t>(chunk.bytes.size()), chunk.encoded ? 1U : 0U, checksum_of(chunk.bytes)});
    piece.encoded.insert(piece.encoded.end(), chunk.bytes.begin(), chunk.bytes.end());
  }
  piece.is_encoded = true;
  piece.row.bytes = piece.encoded.size();
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
  cut_values(*piece.view, piece, [&](BytesView bytes) {
    *row++ = {static_cast<std::uint32_t>(bytes.size()), 0, checksum_of(bytes)};
    put(offset, bytes);
    offset += bytes.size();
  });
}

}  // namespace sidestream::database
