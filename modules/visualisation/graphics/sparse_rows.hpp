// Records at some places of a picture, row by row, and their compact form for sending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::rendering {

/// Rows `first_row` to `first_row + rows` of a picture, each with any number of records in any order. A record names
/// its column itself, and is trivially copyable.
template <class Record>
class SparseRows {
 public:
  SparseRows(std::int64_t first_row, std::int64_t rows)
      : first_row_(first_row), rows_(static_cast<std::size_t>(rows)) {}

  /// Records of row `y` of the picture, first_row <= y < first_row + rows.
  [[nodiscard]] std::vector<Record>& row(std::int64_t y) noexcept {
    return rows_[static_cast<std::size_t>(y - first_row_)];
  }
  [[nodiscard]] const std::vector<Record>& row(std::int64_t y) const noexcept {
    return rows_[static_cast<std::size_t>(y - first_row_)];
  }
  void clear() {
    for (auto& row : rows_) row.clear();
  }

  /// Appends the rows that have records to `out`, in ascending order.
  void encode(Bytes& out) const {
    for (std::size_t y = 0; y < rows_.size(); ++y) {
      if (rows_[y].empty()) continue;
      append(out, Head{first_row_ + static_cast<std::int64_t>(y), static_cast<std::int64_t>(rows_[y].size())},
             rows_[y].data());
    }
  }
  /// Appends the encoded rows with `wanted(row)` to `out`. Throws Error(internal) if the bytes are not rows.
  template <class Wanted>
  static void select(BytesView rows, Wanted&& wanted, Bytes& out) {
    for_each(rows, [&](const Head& head, const std::byte* records) {
      if (wanted(head.row)) append(out, head, records);
    });
  }
  /// Adds the records of encoded rows. Throws Error(internal) if one lies outside.
  void merge(BytesView rows) {
    for_each(rows, [&](const Head& head, const std::byte* records) {
      if (head.row < first_row_ || head.row - first_row_ >= static_cast<std::int64_t>(rows_.size())) {
        fail(Code::internal, "row {} of a picture lies outside rows {} to {}", head.row, first_row_,
             first_row_ + static_cast<std::int64_t>(rows_.size()));
      }
      std::vector<Record>& to = row(head.row);
      const std::size_t old = to.size();
      to.resize(old + static_cast<std::size_t>(head.count));
      std::memcpy(static_cast<void*>(to.data() + old), records, static_cast<std::size_t>(head.count) * sizeof(Record));
    });
  }

 private:
  struct Head {
    std::int64_t row, count;
  };

  static void append(Bytes& out, const Head& head, const void* records) {
    const std::size_t old = out.size(), bytes = static_cast<std::size_t>(head.count) * sizeof(Record);
    out.resize(old + sizeof head + bytes);
    std::memcpy(out.data() + old, &head, sizeof head);
    std::memcpy(out.data() + old + sizeof head, records, bytes);
  }

  template <class F>
  static void for_each(BytesView rows, F&& f) {
    while (!rows.empty()) {
      Head head{};
      const bool whole = rows.size() >= sizeof head;
      if (whole) std::memcpy(&head, rows.data(), sizeof head);
      if (!whole || 0 > head.count ||
          static_cast<std::size_t>(head.count) > (rows.size() - sizeof head) / sizeof(Record)) {
        fail(Code::internal, "a picture's rows end {} bytes before the end of a row", rows.size());
      }
      f(head, rows.data() + sizeof head);
      rows = rows.subspan(sizeof head + static_cast<std::size_t>(head.count) * sizeof(Record));
    }
  }

  std::int64_t first_row_;
  std::vector<std::vector<Record>> rows_;
};

}  // namespace sidestream::rendering
