// Exact sums per column, exchanged between servers and added up from coarse to fine levels.
//
// A column's sums are stored as words: level, row and cell, then the packed exact sums. Each column has a key, its
// first place in the result, so that sorting by key and level puts every column before those that it contains. After
// the exchange (exchanged) each server has the words of its rows. `Descent` then walks the sorted entries like a tree:
// entering a column adds its own sums to those from above, and a column without finer entries writes its places at
// once, rounded once. The work is proportional to the entries, not to the places that coarse columns cover.
#include "visualisation/projection/column_sums.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"

namespace sidestream {
namespace {

constexpr std::size_t most_column_sums = 3, column_head_words = 5;  // level; row and cell, two words each
using Sums = std::array<ExactSum, most_column_sums>;

/// Divides by a step, usually a power of two; returns the remainder.
Index split(Index& value, Index step) noexcept {
  if (std::has_single_bit(static_cast<std::uint64_t>(step))) {
    const Index rest = value & (step - 1);
    value >>= std::countr_zero(static_cast<std::uint64_t>(step));
    return rest;
  }
  const Index rest = value % step;
  value /= step;
  return rest;
}

void put(std::vector<std::uint32_t>& words, const LevelColumn& column, std::span<const ExactSum> sums) {
  words.push_back(static_cast<std::uint32_t>(column.level));
  for (const Index n : {column.row, column.cell}) {
    words.push_back(static_cast<std::uint32_t>(n));
    words.push_back(static_cast<std::uint32_t>(n >> 32));
  }
  for (const ExactSum& sum : sums) pack(sum, words);
}

LevelColumn column_at(const std::vector<std::uint32_t>& words, std::size_t at, const ColumnLevels& levels) {
  if (words.size() - at < column_head_words) fail(Code::internal, "sums of columns end in the number of one");
  const auto index = [&](std::size_t n) {
    return static_cast<Index>(std::uint64_t{words[at + n]} | std::uint64_t{words[at + n + 1]} << 32);
  };
  const LevelColumn column{static_cast<std::int32_t>(words[at]), index(1), index(3)};
  if (column.level < 0 || column.level > levels.finest() || column.row < 0 || column.cell < 0 ||
      column.row >= levels.shape().rows() / levels.fill(column.level)[0] ||
      column.cell >= levels.shape().row_cells() / levels.fill(column.level)[1]) {
    fail(Code::internal, "the column {}, {} of level {} is none of the projection", column.row, column.cell,
         column.level);
  }
  return column;
}

/// A column in the words, and the index of its sums.
struct Entry {
  std::uint64_t key;
  std::int32_t level;
  std::size_t at;
  friend bool operator<(const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.level < b.level; }
};

/// Calls `f(column, first word, end)` for each column in the words, in order.
template <class F>
void for_each_entry(const std::vector<std::uint32_t>& words, const ColumnLevels& levels, std::size_t count, F&& f) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t first = at;
    const LevelColumn column = column_at(words, at, levels);
    at += column_head_words;
    for (std::size_t n = 0; n < count; ++n) at += packed_length(words.data() + at, words.size() - at);
    f(column, first, at);
  }
}

std::vector<Entry> sorted(const std::vector<std::uint32_t>& words, const ColumnLevels& levels, std::size_t count) {
  std::vector<Entry> entries;
  for_each_entry(words, levels, count, [&](const LevelColumn& column, std::size_t first, std::size_t) {
    entries.push_back({levels.key(column), column.level, first + column_head_words});
  });
  std::sort(entries.begin(), entries.end());
  return entries;
}

void add_entry(const std::vector<std::uint32_t>& words, std::size_t at, std::size_t count, Sums& sums) {
  for (std::size_t n = 0; n < count; ++n) at += add_packed(words.data() + at, words.size() - at, sums[n]);
}

/// The first and the last server with rows of a column.
std::array<int, 2> owners_of(const ColumnLevels& levels, const LevelColumn& column, const Communicator& servers) {
  const Index fill = levels.fill(column.level)[0], row = column.row * fill;
  return {levels.shape().owner(row, servers.size()), levels.shape().owner(row + fill - 1, servers.size())};
}

/// Words of partials by receiving server. Memory is reserved at once, because growing vectors take up to three times
/// their size.
std::vector<Bytes> dealt_out(const ColumnLevels& levels, std::size_t count, std::span<const BytesView> partials,
                             const Communicator& servers) {
  std::vector<std::vector<std::uint32_t>> all;
  for (const BytesView partial : partials) all.push_back(records_of<std::uint32_t>(partial));
  const auto for_each_part = [&](const std::vector<std::uint32_t>& words, auto&& f) {
    for_each_entry(words, levels, count, [&](const LevelColumn& column, std::size_t first, std::size_t end) {
      const auto bytes = std::as_bytes(std::span(words).subspan(first, end - first));
      const auto [lowest, highest] = owners_of(levels, column, servers);
      for (int owner = lowest; owner <= highest; ++owner) f(static_cast<std::size_t>(owner), bytes);
    });
  };
  std::vector<std::size_t> sizes(static_cast<std::size_t>(servers.size()), 0);
  for (const auto& words : all)
    for_each_part(words, [&](std::size_t owner, BytesView bytes) { sizes[owner] += bytes.size(); });
  std::vector<Bytes> to(sizes.size());
  for (std::size_t server = 0; server < to.size(); ++server) to[server].reserve(sizes[server]);
  for (auto& words : all) {
    for_each_part(words, [&](std::size_t owner, BytesView bytes) {
      to[owner].insert(to[owner].end(), bytes.begin(), bytes.end());
    });
    std::vector<std::uint32_t>().swap(words);
  }
  return to;
}

/// All words of partials for this server's rows.
std::vector<std::uint32_t> exchanged(const ColumnLevels& levels, std::size_t count, std::span<const BytesView> partials,
                                     Communicator& servers) {
  std::vector<Bytes> to = dealt_out(levels, count, partials, servers);
  std::vector<Bytes> from = servers.all_to_all(to);
  std::vector<Bytes>().swap(to);
  std::size_t length = 0;
  for (const Bytes& bytes : from) length += bytes.size() / sizeof(std::uint32_t);
  std::vector<std::uint32_t> all;
  all.reserve(length);
  for (Bytes& bytes : from) {
    const auto words = records_of<std::uint32_t>(bytes);
    all.insert(all.end(), words.begin(), words.end());
    Bytes().swap(bytes);
  }
  return all;
}

/// Sums collected on the way down, and their rounded values, computed once for all places without further sums.
struct Gathered {
  Sums sums;
  std::optional<std::array<double, most_column_sums>> values;
};

class Descent {
 public:
  Descent(const ColumnLevels& levels, std::size_t count, const std::vector<std::uint32_t>& words, Index first_row,
          Index end_row, const std::function<void(const Places&, const std::array<double, 3>&)>& f)
      : levels_(levels),
        count_(count),
        words_(words),
        entries_(sorted(words, levels, count)),
        first_row_(first_row),
        end_row_(end_row),
        f_(f) {}

  void run() {
    const auto [rows, cells] = levels_.step(0);
    const Index fill = levels_.fill(0)[0];
    for (Index row = first_row_ / fill; row < rows && row * fill < end_row_ && next_ < entries_.size(); ++row) {
      for (Index cell = 0; cell < cells && next_ < entries_.size(); ++cell) {
        const LevelColumn column{0, row, cell};
        enter(column, levels_.key(column), nullptr);
      }
    }
  }

 private:
  /// `above`: sums of the whole column from coarser levels; null: none.
  void enter(const LevelColumn& column, std::uint64_t key, Gathered* above) {
    const std::uint64_t end = key + levels_.keys(column.level);
    const auto is_own = [&] {
      return next_ < entries_.size() && entries_[next_].key == key && entries_[next_].level == column.level;
    };
    std::optional<Gathered> own;
    if (is_own()) {
      own.emplace();
      if (above != nullptr) own->sums = above->sums;
      for (; is_own(); ++next_) add_entry(words_, entries_[next_].at, count_, own->sums);
      above = &*own;
    }
    if (next_ == entries_.size() || entries_[next_].key >= end) return fill(column, above);
    const auto [rows, cells] = levels_.step(column.level + 1);
    const std::uint64_t each = levels_.keys(column.level + 1);
    for (Index row = 0; row < rows; ++row) {
      for (Index cell = 0; cell < cells; ++cell, key += each) {
        enter({column.level + 1, column.row * rows + row, column.cell * cells + cell}, key, above);
      }
    }
  }

  void fill(const LevelColumn& column, Gathered* gathered) const {
    if (gathered == nullptr) return;
    const auto [rows, cells] = levels_.fill(column.level);
    const Places places{std::max(column.row * rows, first_row_), std::min((column.row + 1) * rows, end_row_),
                        column.cell * cells, (column.cell + 1) * cells};
    if (places.first_row >= places.end_row) return;
    if (!gathered->values) {
      gathered->values.emplace();
      for (std::size_t n = 0; n < count_; ++n) (*gathered->values)[n] = gathered->sums[n].value();
    }
    f_(places, *gathered->values);
  }

  const ColumnLevels& levels_;
  std::size_t count_;
  const std::vector<std::uint32_t>& words_;
  std::vector<Entry> entries_;
  Index first_row_, end_row_;
  const std::function<void(const Places&, const std::array<double, 3>&)>& f_;
  std::size_t next_ = 0;
};

}  // namespace

ColumnLevels::ColumnLevels(const GridShape& shape, const std::vector<std::array<Index, 2>>& ratios)
    : shape_(shape), steps_(ratios.size()), fill_(ratios.size()) {
  const std::array<Index, 2> all{shape.rows(), shape.row_cells()};
  for (std::size_t level = 0; level < ratios.size(); ++level) {
    for (std::size_t n = 0; n < 2; ++n) {
      fill_[level][n] = ratios.back()[n] / ratios[level][n];
      steps_[level][n] = level == 0 ? all[n] / fill_[0][n] : ratios[level][n] / ratios[level - 1][n];
    }
  }
}

std::uint64_t ColumnLevels::key(const LevelColumn& column) const noexcept {
  Index row = column.row, cell = column.cell;
  std::uint64_t key = 0;
  for (std::int32_t level = column.level; level > 0; --level) {
    const auto [rows, cells] = step(level);
    const Index row_rest = split(row, rows), cell_rest = split(cell, cells);
    key += static_cast<std::uint64_t>(row_rest * cells + cell_rest) * keys(level);
  }
  return key + static_cast<std::uint64_t>(row * step(0)[1] + cell) * keys(0);
}

void ColumnSums::add(const LevelColumn& column, std::span<const ExactSum> sums) { put(words_, column, sums); }

void ColumnSums::add_up() {
  constexpr std::size_t few = std::size_t{1} << 20;
  if (words_.size() <= 2 * added_up_ + few) return;
  const std::vector<Entry> entries = sorted(words_, levels_, count_);
  std::vector<std::uint32_t> totals;
  for (std::size_t n = 0; n < entries.size();) {
    const Entry& first = entries[n];
    Sums sums;
    for (; n < entries.size() && !(first < entries[n]); ++n) add_entry(words_, entries[n].at, count_, sums);
    put(totals, column_at(words_, first.at - column_head_words, levels_), std::span(sums).first(count_));
  }
  words_ = std::move(totals);
  added_up_ = words_.size();
}

Bytes ColumnSums::take() { return bytes_of(words_); }

void for_each_sum(const ColumnLevels& levels, std::size_t count, std::span<const BytesView> partials,
                  Communicator& servers, const std::function<void(const Places&, const std::array<double, 3>&)>& f) {
  const std::vector<std::uint32_t> words = exchanged(levels, count, partials, servers);
  Descent(levels, count, words, levels.shape().first_row(servers.rank(), servers.size()),
          levels.shape().first_row(servers.rank() + 1, servers.size()), f)
      .run();
}

}  // namespace sidestream
