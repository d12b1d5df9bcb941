// From values to differences and back, a son of a tile at a time.
#pragma once

#include <algorithm>
#include <span>

#include "storage/trees/prediction.hpp"

namespace sidestream::trees {

template <class T>
using WordRow = std::array<Word<T>, tile_groups>;

/// The prediction in the type of the values, as an ordered number.
template <class T>
[[nodiscard]] inline Word<T> expected(double predicted) noexcept {
  return ordered(std::bit_cast<Word<T>>(static_cast<T>(predicted)));
}

/// Differences of one son, values of which are put into `row` as well.
template <class T>
void take_differences(const std::byte* values, std::size_t stride, const Predictor::Row& predicted, std::size_t count,
                      Predictor::Row& row, WordRow<T>& differences) {
  for (std::size_t g = 0; g < count; ++g) {
    T value;
    std::memcpy(&value, values + g * stride * sizeof(T), sizeof value);
    row[g] = static_cast<double>(value);
    differences[g] = std::bit_cast<Word<T>>(value);
  }
  for (std::size_t g = 0; g < count; ++g) {
    differences[g] = zigzag(static_cast<Word<T>>(ordered(differences[g]) - expected<T>(predicted[g])));
  }
}

/// The reverse.
template <class T>
void put_values(const WordRow<T>& differences, const Predictor::Row& predicted, std::size_t count, std::size_t stride,
                Predictor::Row& row, std::byte* values) {
  WordRow<T> words;
  for (std::size_t g = 0; g < count; ++g) {
    words[g] = ordered(static_cast<Word<T>>(expected<T>(predicted[g]) + unzigzag(differences[g])));
    row[g] = static_cast<double>(std::bit_cast<T>(words[g]));
  }
  for (std::size_t g = 0; g < count; ++g) std::memcpy(values + g * stride * sizeof(T), &words[g], sizeof(T));
}

/// How many groups a tile has that begins at `first`: all of one wave.
[[nodiscard]] inline std::size_t tile_size(std::size_t first, std::size_t last,
                                           std::span<const std::size_t> ends) noexcept {
  const auto end = std::upper_bound(ends.begin(), ends.end(), first);
  return std::min({tile_groups, last - first, end == ends.end() ? last - first : *end - first});
}

/// Calls begin_tile() for each tile of [first, last), tiles being cut at the `ends` of waves, then take(predictor,
/// step, first group, count, differences) for each son in it.
template <class T, class Begin, class Take>
void each_difference(BytesView values, Predictor& predictor, std::size_t first, std::size_t last,
                     std::span<const std::size_t> ends, Begin&& begin_tile, Take&& take) {
  const std::size_t sons = predictor.steps();
  Predictor::Row row;
  WordRow<T> differences;
  std::size_t count = 0;
  for (std::size_t tile = first; tile < last; tile += count) {
    count = tile_size(tile, last, ends);
    predictor.begin(tile, count);
    begin_tile();
    for (std::size_t step = 0; step < sons; ++step) {
      predictor.predict(step);
      const std::byte* from = values.data() + (tile * sons + predictor.son(step)) * sizeof(T);
      take_differences<T>(from, sons, predictor.predicted(), count, row, differences);
      take(step, tile, count, differences);
      predictor.known(step, row);
    }
  }
}

/// Likewise, and `give` fills the differences.
template <class T, class Begin, class Give>
void each_value(std::span<std::byte> values, Predictor& predictor, std::size_t groups,
                std::span<const std::size_t> ends, Begin&& begin_tile, Give&& give) {
  const std::size_t sons = predictor.steps();
  Predictor::Row row;
  WordRow<T> differences;
  std::size_t count = 0;
  for (std::size_t tile = 0; tile < groups; tile += count) {
    count = tile_size(tile, groups, ends);
    predictor.begin(tile, count);
    begin_tile();
    for (std::size_t step = 0; step < sons; ++step) {
      predictor.predict(step);
      give(step, tile, count, differences);
      std::byte* to = values.data() + (tile * sons + predictor.son(step)) * sizeof(T);
      put_values<T>(differences, predictor.predicted(), count, sons, row, to);
      predictor.known(step, row);
    }
  }
}

/// Calls `f(T{})` with the type of the values, float or double.
template <class F>
void with_real(Type type, F&& f) {
  if (type == Type::float32) {
    f(float{});
  } else {
    f(double{});
  }
}

}  // namespace sidestream::trees
