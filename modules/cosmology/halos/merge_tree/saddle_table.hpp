// Hash table of the highest meeting of each pair of maxima.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace sidestream::halos {

/// Open addressing by pairs of maxima's numbers; the value is their saddle. `Later(a, b)`: true if cell a is higher
/// than cell b of equal value.
class SaddleTable {
 public:
  struct Entry {
    std::uint32_t a = 0, b = 0;  ///< a < b; both 0: free
    std::int32_t cell = 0;
    double value = 0;  ///< value of the cell
  };

  SaddleTable() : entries_(1 << 12) {}

  template <class Later>
  void meet(std::uint32_t a, std::uint32_t b, std::int32_t cell, double value, Later&& later) {
    if (a > b) std::swap(a, b);
    Entry* entry = last_;
    if (entry->a != a || entry->b != b) {
      entry = place(a, b);
      if (entry->b == 0) {
        *entry = {a, b, cell, value};
        last_ = entry;
        if (++count_ * 2 > entries_.size()) grow();
        return;
      }
      last_ = entry;
    }
    if (value < entry->value || (value == entry->value && !later(cell, entry->cell))) return;
    entry->cell = cell;
    entry->value = value;
  }
  [[nodiscard]] std::vector<Entry> take() {
    std::vector<Entry> all;
    all.reserve(count_);
    for (const Entry& entry : entries_) {
      if (entry.b != 0) all.push_back(entry);
    }
    std::vector<Entry>().swap(entries_);
    return all;
  }

 private:
  [[nodiscard]] Entry* place(std::uint32_t a, std::uint32_t b) noexcept {
    std::uint64_t hash = (std::uint64_t{a} << 32 | b) * 0x9E3779B97F4A7C15u;
    const std::size_t mask = entries_.size() - 1;
    std::size_t n = static_cast<std::size_t>(hash >> 32) & mask;
    while (entries_[n].b != 0 && (entries_[n].a != a || entries_[n].b != b)) n = (n + 1) & mask;
    return &entries_[n];
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.b != 0) *place(entry.a, entry.b) = entry;
    }
    last_ = &none_;
  }

  std::vector<Entry> entries_;
  std::size_t count_ = 0;
  Entry none_{};
  Entry* last_ = &none_;
};

}  // namespace sidestream::halos
