// Few large writes instead of many small ones.
#pragma once

#include <cstdint>

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
    kept_.resize(offset - begin_);  // what is skipped is nobody's
    kept_.insert(kept_.end(), bytes.begin(), bytes.end());
  }
  void finish() {
    if (!kept_.empty()) put(begin_, kept_);
    kept_.clear();
  }

 private:
  /// Writes the bytes. If they are flushed later, flushing begins while the next ones are copied.
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
  std::uint64_t first_ = 0, written_ = 0;  ///< since the disk was last told
  std::uint64_t begin_ = 0;
  Bytes kept_;
};

}  // namespace sidestream::database
