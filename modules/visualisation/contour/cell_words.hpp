// Cells of a row, 64 at a time, as bits, for the surface kernel.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "visualisation/contour/class_bits.hpp"

namespace sidestream {

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
