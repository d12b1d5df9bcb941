// Writing of a context: joined writes, the tables of a server's parts, and the report about them.
//
// Joined writes are few large writes instead of many small ones. The leader of a group reports to the context's first
// server.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/kit/base/fields.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "storage/database/domain.hpp"
#include "storage/database/layout.hpp"
#include "storage/database/segment.hpp"

namespace sidestream::database {

/// Joins consecutive bytes into one write, since blocks may have only a few bytes each.
class JoinedWrites {
 public:
  JoinedWrites(GrowingFile& file, bool flushed_later) : file_(file), flushed_later_(flushed_later) {}
  void write(std::uint64_t offset, BytesView bytes) {
    const std::uint64_t end = begin_ + kept_.size();
    const bool follows = !kept_.empty() && offset >= end && offset - end < alignment;
    if (!follows || kept_.size() + bytes.size() + alignment > chunk_bytes) finish();
    if (bytes.size() >= chunk_bytes / 4) return put(offset, bytes);
    if (kept_.empty()) begin_ = offset;
    kept_.resize(offset - begin_);  // nobody reads the skipped bytes
    kept_.insert(kept_.end(), bytes.begin(), bytes.end());
  }
  void finish() {
    if (!kept_.empty()) put(begin_, kept_);
    kept_.clear();
  }

 private:
  /// Writes the bytes. If they will be flushed, flushing begins while the next bytes are copied.
  void put(std::uint64_t offset, BytesView bytes) {
    file_.write(offset, bytes);
    if (!flushed_later_) return;
    if (written_ == 0) first_ = offset;
    written_ += bytes.size();
    if (written_ < on_its_way) return;
    file_.begin_flush(first_, offset + bytes.size());
    written_ = 0;
  }

  static constexpr std::uint64_t on_its_way = 8 * chunk_bytes;
  GrowingFile& file_;
  bool flushed_later_;
  std::uint64_t first_ = 0, written_ = 0;  ///< since the last hint to the disk
  std::uint64_t begin_ = 0;
  Bytes kept_;
};

/// The tables of a server's parts of a context.
struct WrittenRows {
  DomainRows rows;
  std::uint64_t raw_bytes = 0;  ///< of values, before codecs

  /// Adds the rows of a domain; its block and chunk numbers continue those present. If memory is short, nothing is
  /// added.
  void take(Domain& domain) {
    DomainRows& from = domain.rows();
    reserve_more(rows.blocks, from.blocks.size());
    reserve_more(rows.rows.pieces, domain.pieces().size());
    reserve_more(rows.rows.chunks, from.rows.chunks.size());
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
  static void reserve_more(std::vector<Row>& there, std::size_t more) {
    const std::size_t needed = there.size() + more;
    if (needed > there.capacity()) there.reserve(std::max(needed, 2 * there.capacity()));
  }
};

/// A group's report about one context.
struct GroupReport {
  std::string failure{};
  GroupEntry entry{};
  std::uint64_t bytes = 0, stored = 0;

  [[nodiscard]] Bytes packed() const;
  static GroupReport of(const Bytes& bytes);
};

}  // namespace sidestream::database

namespace sidestream {

template <>
inline constexpr std::size_t field_count<database::GroupReport> = 4;

}  // namespace sidestream

namespace sidestream::database {

inline Bytes GroupReport::packed() const {
  Bytes packed;
  retry_while_out_of_memory([&] { packed = packed_fields(*this); });
  return packed;
}

inline GroupReport GroupReport::of(const Bytes& bytes) { return unpacked_fields<GroupReport>(ByteReader(bytes)); }

}  // namespace sidestream::database
