// Distributed exact sums per cell. Each server appends packed sums to the rows of a grid, each preceded by its cell;
// sums of the same cell are added up now and then to bound memory. The rows are exchanged so that each server gets
// those it owns. There the entries of a row are sorted by cell and added.
#include "sidestream/kit/reduce/grid_sums.hpp"

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

GridShape::GridShape(std::vector<Index> extents) : extents_(std::move(extents)) {
  for (std::size_t a = 1; a < extents_.size(); ++a) row_cells_ *= extents_[a];
}

Index GridShape::first_row(int server, int servers) const noexcept {
  // Not rows * server / servers, which may overflow.
  const Index each = rows() / servers, more = rows() % servers;
  return each * server + std::min<Index>(server, more);
}

int GridShape::owner(Index row, int servers) const noexcept {
  const Index each = rows() / servers, more = rows() % servers;
  const Index longer = (each + 1) * more;  // rows of the servers that have one more
  return static_cast<int>(row < longer ? row / (each + 1) : more + (row - longer) / each);
}

namespace {

struct RowHead {
  Index row = 0;
  std::uint64_t words = 0;
};

/// Calls `f(head, its words as bytes)` for each row of a partial.
template <class F>
void for_each_row(BytesView bytes, const GridShape& grid, F&& f) {
  while (!bytes.empty()) {
    if (bytes.size() < sizeof(RowHead)) fail(Code::internal, "{} bytes are left for a row of a grid", bytes.size());
    const auto head = record_of<RowHead>(bytes.first(sizeof(RowHead)));
    bytes = bytes.subspan(sizeof(RowHead));
    const std::size_t size = head.words * sizeof(std::uint32_t);
    if (head.row < 0 || head.row >= grid.rows() || bytes.size() < size) {
      fail(Code::internal, "row {} of a grid of {} rows has {} bytes where {} are left", head.row, grid.rows(), size,
           bytes.size());
    }
    f(head, bytes.first(size));
    bytes = bytes.subspan(size);
  }
}

void append(Bytes& to, BytesView bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

}  // namespace

// Memory is reserved at once: growing bytes take up to three times their content.

Bytes RowWords::take(std::size_t more) {
  Bytes bytes;
  for (const auto& [row, words] : rows_) more += sizeof(RowHead) + words.size() * sizeof(std::uint32_t);
  bytes.reserve(more);
  for (auto& [row, words] : rows_) {
    const RowHead head{row, words.size()};
    append(bytes, bytes_of(head));
    append(bytes, std::as_bytes(std::span(words)));
    std::vector<std::uint32_t>().swap(words);
  }
  rows_.clear();
  return bytes;
}

namespace {

/// Serialises rows for the servers that own them, except for `me`.
std::vector<Bytes> for_others(std::span<const BytesView> partials, const GridShape& grid, int servers, int me) {
  std::vector<Bytes> to(static_cast<std::size_t>(servers));
  std::vector<std::size_t> sizes(to.size(), 0);
  for (const BytesView partial : partials) {
    for_each_row(partial, grid, [&](const RowHead& head, BytesView words) {
      sizes[static_cast<std::size_t>(grid.owner(head.row, servers))] += sizeof(RowHead) + words.size();
    });
  }
  for (int server = 0; server < servers; ++server) {
    const auto n = static_cast<std::size_t>(server);
    if (server != me) to[n].reserve(sizes[n]);
  }
  for (const BytesView partial : partials) {
    for_each_row(partial, grid, [&](const RowHead& head, BytesView words) {
      const int owner = grid.owner(head.row, servers);
      if (owner == me) return;
      append(to[static_cast<std::size_t>(owner)], bytes_of(head));
      append(to[static_cast<std::size_t>(owner)], words);
    });
  }
  return to;
}

}  // namespace

void RowsOfServer::add(std::size_t row, BytesView words) {
  const std::size_t count = words.size() / sizeof(std::uint32_t);
  if (reinterpret_cast<std::uintptr_t>(words.data()) % alignof(std::uint32_t) == 0) {
    rows_.at(row).emplace_back(reinterpret_cast<const std::uint32_t*>(words.data()), count);
    return;
  }
  copies_.push_back(records_of<std::uint32_t>(words));
  rows_.at(row).emplace_back(copies_.back());
}

RowsOfServer rows_of(std::span<const BytesView> partials, const GridShape& grid, Communicator& servers) {
  const int me = servers.rank();
  std::vector<Bytes> from = servers.all_to_all(for_others(partials, grid, servers.size(), me));
  const Index first = grid.first_row(me, servers.size());
  RowsOfServer rows(static_cast<std::size_t>(grid.first_row(me + 1, servers.size()) - first));
  const auto take = [&](const RowHead& head, BytesView words) {
    if (grid.owner(head.row, servers.size()) == me) rows.add(static_cast<std::size_t>(head.row - first), words);
  };
  for (const BytesView partial : partials) for_each_row(partial, grid, take);  // rows of this server are not sent
  for (const Bytes& bytes : from) for_each_row(bytes, grid, take);
  rows.keep(std::move(from));
  return rows;
}

void GridSums::add(Index cell, std::span<const ExactSum> sums) {
  put(words_.row(cell / grid_.row_cells()), cell % grid_.row_cells(), sums);
}

void GridSums::put(std::vector<std::uint32_t>& words, Index in_row, std::span<const ExactSum> sums) {
  const std::size_t before = words.size();
  words.push_back(static_cast<std::uint32_t>(in_row));
  words.push_back(static_cast<std::uint32_t>(in_row >> 32));
  for (const ExactSum& sum : sums) pack(sum, words);
  size_ += words.size() - before;
}

void GridSums::add_up() {
  constexpr std::size_t few = std::size_t{1} << 20;
  if (size_ <= 2 * added_up_ + few) return;
  size_ = 0;
  for (auto& [row, words] : words_.rows()) {
    std::vector<std::uint32_t> totals;
    for_each_sum({words}, count_, [&](Index cell, std::span<const ExactSum> sums) { put(totals, cell, sums); });
    words = std::move(totals);
  }
  added_up_ = size_;
}

void for_each_sum(const RowParts& row, std::size_t count,
                  const std::function<void(Index, std::span<const ExactSum>)>& f) {
  struct Entry {
    Index cell;
    const std::uint32_t* sums;
    const std::uint32_t* end;  ///< end of the part that they are in
  };
  std::vector<Entry> entries;
  for (const std::span<const std::uint32_t> part : row) {
    const std::uint32_t *at = part.data(), *const end = at + part.size();
    while (at != end) {
      if (end - at < 2) fail(Code::internal, "a row of sums ends in the number of a cell");
      const std::uint64_t cell = std::uint64_t{at[0]} | std::uint64_t{at[1]} << 32;
      entries.push_back({static_cast<Index>(cell), at += 2, end});
      for (std::size_t n = 0; n < count; ++n) at += packed_length(at, static_cast<std::size_t>(end - at));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.cell < b.cell; });
  std::vector<ExactSum> sums(count);
  for (std::size_t n = 0; n < entries.size();) {
    std::fill(sums.begin(), sums.end(), ExactSum());
    const Index cell = entries[n].cell;
    for (; n < entries.size() && entries[n].cell == cell; ++n) {
      const std::uint32_t* at = entries[n].sums;
      for (ExactSum& sum : sums) at += add_packed(at, static_cast<std::size_t>(entries[n].end - at), sum);
    }
    f(cell, sums);
  }
}

}  // namespace sidestream
