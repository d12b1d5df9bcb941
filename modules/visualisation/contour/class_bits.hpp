// Points and cells of a box as bits, 64 to a word, for the surface kernel.
//
// A point's bit says whether it is inside, or whether its number is finite. The cells of a row follow from the bits of
// the four rows of their corners.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream {

using Word = std::uint64_t;
inline constexpr Index word_bits = 64;

/// Bits of points in rows of whole words; bits beyond a row's end are 0.
class BitRows {
 public:
  explicit BitRows(const Box& points)
      : box_(points),
        words_((points.extent(0) + word_bits - 1) / word_bits + 1),  // one more, so that a shift can read the next word
        bits_(static_cast<std::size_t>(words_ * points.extent(1) * points.extent(2)), 0) {}
  [[nodiscard]] Index words() const noexcept { return words_ - 1; }
  [[nodiscard]] Word* row(Index j, Index k) noexcept { return bits_.data() + offset(j, k); }
  [[nodiscard]] const Word* row(Index j, Index k) const noexcept { return bits_.data() + offset(j, k); }

 private:
  [[nodiscard]] Index offset(Index j, Index k) const noexcept {
    return ((k - box_.lo[2]) * box_.extent(1) + (j - box_.lo[1])) * words_;
  }
  Box box_;
  Index words_;
  std::vector<Word> bits_;
};

/// The upper neighbour of each bit.
[[nodiscard]] inline Word next_bits(const Word* row, Index w) noexcept { return row[w] >> 1 | row[w + 1] << 63; }
/// The lower neighbour of each bit.
[[nodiscard]] inline Word bits_before(const Word* row, Index w) noexcept {
  return row[w] << 1 | (w > 0 ? row[w - 1] >> 63 : 0);
}
/// The bits of the first `count` points in word w of a row.
[[nodiscard]] inline Word mask_of(Index count, Index w) noexcept {
  const Index rest = count - w * word_bits;
  return rest >= word_bits ? ~Word{0} : rest <= 0 ? 0 : (Word{1} << rest) - 1;
}

/// The least T that is not below the value: a T is >= the threshold exactly where it is >= the value.
template <class T>
[[nodiscard]] T threshold(double value) noexcept {
  const T rounded = static_cast<T>(value);
  return static_cast<double>(rounded) < value ? std::nextafter(rounded, std::numeric_limits<T>::infinity()) : rounded;
}

/// Sets the bits of the numbers >= `least`; returns true if all numbers are finite.
template <class T>
bool classify(const T* numbers, Index count, T least, Word* bits) noexcept {
  T poison[8] = {0, 0, 0, 0, 0, 0, 0, 0};  // stays 0 while everything is finite
  for (Index i = 0; i < count; i += word_bits, ++bits, numbers += word_bits) {
    const Index here = count - i < word_bits ? count - i : word_bits;
    Word word = 0;
    Index b = 0;
    for (; b + 8 <= here; b += 8) {
      Word byte = 0;
      for (Index n = 0; n < 8; ++n) {
        byte |= static_cast<Word>(numbers[b + n] >= least) << n;
        poison[n] += numbers[b + n] * 0;
      }
      word |= byte << b;
    }
    for (; b < here; ++b) {
      word |= static_cast<Word>(numbers[b] >= least) << b;
      poison[0] += numbers[b] * 0;
    }
    *bits = word;
  }
  T sum = 0;
  for (const T one : poison) sum += one;
  return sum == 0;
}

/// The bits of a byte, each in a separate byte.
inline constexpr std::array<Word, 256> spread = [] {
  std::array<Word, 256> words{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) words[byte] |= Word{byte >> bit & 1} << 8 * bit;
  }
  return words;
}();

/// The cells above the 64 points of a word that a surface passes, and their inside corners: a word for each of the four
/// rows of corners (one further along j, along k, along both), below and above along i.
struct CellWords {
  Word active = 0;
  Word low[4], high[4];
  /// Calls f(bit, bits of inside corners) for each active cell.
  template <class F>
  void each(F f) const {
    for (int byte = 0; byte < word_bits; byte += 8) {
      Word cases = 0;
      auto left = static_cast<unsigned>(active >> byte & 255);
      for (int r = 0; r < 4 && left != 0; ++r) {
        cases |= spread[low[r] >> byte & 255] << r | spread[high[r] >> byte & 255] << (4 + r);
      }
      for (; left != 0; left &= left - 1) {
        const int bit = std::countr_zero(left);
        f(byte + bit, static_cast<unsigned>(cases >> 8 * bit & 255));
      }
    }
  }
};

/// Vertices of a point with crossed edges: the number of the first edge's vertex, and how many precede those along j
/// and k.
struct Numbered {
  std::int32_t first;
  std::uint8_t before_j, before_k;
};

/// The vertices on the edges of a cell, in the order of the table's edges. The cell is above point i of the first of
/// four rows (one further along j, along k, along both). Entries of edges that are not crossed are undefined.
[[nodiscard]] inline std::array<std::int32_t, 12> vertices_of(const Numbered* const rows[4], Index i) noexcept {
  std::array<std::int32_t, 12> vertices;
  std::size_t edge = 0;
  for (int r = 0; r < 4; ++r) vertices[edge++] = rows[r][i].first;
  for (int n = 0; n < 4; ++n) {
    const Numbered& point = rows[2 * (n & 1)][i + (n >> 1)];
    vertices[edge++] = point.first + point.before_j;
  }
  for (int n = 0; n < 4; ++n) {
    const Numbered& point = rows[n & 1][i + (n >> 1)];
    vertices[edge++] = point.first + point.before_k;
  }
  return vertices;
}

}  // namespace sidestream
