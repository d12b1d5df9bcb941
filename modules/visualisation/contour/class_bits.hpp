// One bit for each point of a box: inside or not, finite or not.
#pragma once

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

}  // namespace sidestream
