// Converts values to residuals and back, one child of a tile at a time.
#pragma once

#include <algorithm>
#include <span>

#include "amr_codec/values/prediction.hpp"

namespace sidestream::trees {

template <class T>
using WordRow = std::array<Word<T>, tile_groups>;

/// The prediction, rounded to the type of the values, as an ordered integer.
template <class T>
[[nodiscard]] inline Word<T> expected(double predicted) noexcept {
  return ordered(std::bit_cast<Word<T>>(static_cast<T>(predicted)));
}

/// Computes the folded residuals of values. Fills `row` with the values as doubles.
void take_differences(const std::uint64_t* words, const double* predicted, std::size_t count, double* row,
                      std::uint64_t* differences);
void take_differences(const std::uint32_t* words, const double* predicted, std::size_t count, double* row,
                      std::uint32_t* differences);

/// The inverse of take_differences().
void put_values(const std::uint64_t* differences, const double* predicted, std::size_t count, double* row,
                std::uint64_t* words);
void put_values(const std::uint32_t* differences, const double* predicted, std::size_t count, double* row,
                std::uint32_t* words);

/// The values of a tile as words, one row for each child.
template <class T>
using TileWords = std::array<WordRow<T>, 8>;

template <class T, std::size_t Children>
void load_tile(const std::byte* values, const Predictor& predictor, std::size_t count, TileWords<T>& words) {
  for (std::size_t g = 0; g < count; ++g) {
    Word<T> group[Children];
    std::memcpy(group, values + predictor.group(g) * sizeof group, sizeof group);
    for (std::size_t child = 0; child < Children; ++child) words[child][g] = group[child];
  }
}

template <class T, std::size_t Children>
void store_tile(const TileWords<T>& words, const Predictor& predictor, std::size_t count, std::byte* values) {
  for (std::size_t g = 0; g < count; ++g) {
    Word<T> group[Children];
    for (std::size_t child = 0; child < Children; ++child) group[child] = words[child][g];
    std::memcpy(values + predictor.group(g) * sizeof group, group, sizeof group);
  }
}

/// Calls f.template operator()<Children>() for 2, 4 or 8 children.
template <class F>
void with_children(std::size_t children, F&& f) {
  if (children == 8) return f.template operator()<8>();
  if (children == 4) return f.template operator()<4>();
  f.template operator()<2>();
}

/// Number of groups in the tile that begins at `first`; a tile lies within one wave.
[[nodiscard]] inline std::size_t tile_size(std::size_t first, std::size_t last,
                                           std::span<const std::size_t> ends) noexcept {
  const auto end = std::upper_bound(ends.begin(), ends.end(), first);
  return std::min({tile_groups, last - first, end == ends.end() ? last - first : *end - first});
}

/// Calls begin_tile(predictor, count) for each tile of [first, last), where tiles are cut at the `ends` of waves. Then
/// calls take(step, first group, count, differences) for each child; the differences are at scratch().
template <class T, class Begin, class Scratch, class Take>
void each_difference(BytesView values, Predictor& predictor, std::size_t first, std::size_t last,
                     std::span<const std::size_t> ends, Begin&& begin_tile, Scratch&& scratch, Take&& take) {
  const std::size_t children = predictor.steps();
  TileWords<T> words;
  Predictor::Row row;
  std::size_t count = 0;
  for (std::size_t tile = first; tile < last; tile += count) {
    count = tile_size(tile, last, ends);
    predictor.begin(tile, count);
    with_children(children,
                  [&]<std::size_t Children>() { load_tile<T, Children>(values.data(), predictor, count, words); });
    begin_tile(predictor, count);
    for (std::size_t step = 0; step < children; ++step) {
      predictor.predict(step);
      Word<T>* const differences = scratch();
      take_differences(words[predictor.child(step)].data(), predictor.predicted().data(), count, row.data(),
                       differences);
      take(step, tile, count, differences);
      predictor.known(step, row);
    }
  }
}

/// The inverse: `give` fills the differences, which become values.
template <class T, class Begin, class Give>
void each_value(std::span<std::byte> values, Predictor& predictor, std::size_t groups,
                std::span<const std::size_t> ends, Begin&& begin_tile, Give&& give) {
  const std::size_t children = predictor.steps();
  TileWords<T> words;
  Predictor::Row row;
  WordRow<T> differences;
  std::size_t count = 0;
  for (std::size_t tile = 0; tile < groups; tile += count) {
    count = tile_size(tile, groups, ends);
    predictor.begin(tile, count);
    begin_tile(predictor, count);
    for (std::size_t step = 0; step < children; ++step) {
      predictor.predict(step);
      give(step, tile, count, differences);
      put_values(differences.data(), predictor.predicted().data(), count, row.data(),
                 words[predictor.child(step)].data());
      predictor.known(step, row);
    }
    with_children(children,
                  [&]<std::size_t Children>() { store_tile<T, Children>(words, predictor, count, values.data()); });
  }
}

/// Calls f(T{}) with the type of the values, float or double.
template <class F>
void with_real(Type type, F&& f) {
  if (type == Type::float32) {
    f(float{});
  } else {
    f(double{});
  }
}

}  // namespace sidestream::trees
