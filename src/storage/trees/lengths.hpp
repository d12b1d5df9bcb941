// Numbers as their lengths in bits, sorted by what length is to be expected and packed, and the bits below the first.
#pragma once

#include <array>
#include <memory>

#include "storage/trees/bits.hpp"
#include "storage/trees/prediction.hpp"

namespace sidestream::trees {

/// A length goes into one of several lists by what it belongs to: values predicted by slopes into the first five (the
/// first of a group; and, by the lengths before it in the group, four more), other sources into one each.
inline constexpr std::size_t length_lists = 4 + sources;
/// Twice the mean length from which on the second, third and fourth of those four lists are taken.
using LengthSteps = std::array<std::uint8_t, 3>;

/// Which list is next for each group of a tile.
class ListChooser {
 public:
  explicit ListChooser(const LengthSteps& steps) noexcept : steps_(steps) {}
  void begin() noexcept { mean_.fill(none); }
  [[nodiscard]] std::size_t by_slope(std::size_t group) const noexcept {
    const std::uint8_t mean = mean_[group];
    return mean == none ? 0 : 1u + (mean >= steps_[0]) + (mean >= steps_[1]) + (mean >= steps_[2]);
  }
  void add(std::size_t group, unsigned length) noexcept {
    const unsigned mean = mean_[group], twice = 2 * length;
    mean_[group] = static_cast<std::uint8_t>(mean == none ? twice : (mean + twice + 1) / 2);
  }
  [[nodiscard]] static constexpr std::size_t of(Source source) noexcept { return 4 + static_cast<std::size_t>(source); }

 private:
  static constexpr std::uint8_t none = 255;
  LengthSteps steps_;
  std::array<std::uint8_t, tile_groups> mean_{};
};

/// Whose numbers, of a son in each group of a tile.
struct TileSources {
  const std::array<Source, tile_groups>& from;
  bool uniform;
  std::size_t count;
};

class LengthWriter {
 public:
  /// For so many numbers of at most 8 * `size` bits, behind what `out` has. Nothing else is put there until it is
  /// finished.
  LengthWriter(std::size_t numbers, std::size_t size, const LengthSteps& steps, Bytes& out);
  void begin_tile() noexcept { chooser_.begin(); }
  template <class W>
  void put(const TileSources& tile, const std::array<W, tile_groups>& numbers) noexcept;
  /// What `out` has then: the number of bytes with bits, in 8 bytes; the bits; counts and sizes of the lists; the
  /// lists.
  void finish();

 private:
  ListChooser chooser_;
  std::array<std::unique_ptr<std::uint8_t[]>, length_lists> lists_;
  std::array<std::uint8_t*, length_lists> ends_{};
  Bytes& out_;
  std::size_t start_;
  BitWriter writer_;
};

class LengthReader {
 public:
  /// Throws Error(file) unless `stream` begins with what a LengthWriter finished of so many numbers. The stream is read
  /// from afterwards too.
  LengthReader(BytesView stream, std::size_t numbers, std::size_t size, const LengthSteps& steps);
  void begin_tile() noexcept { chooser_.begin(); }
  /// Throws Error(file) where there are no more.
  template <class W>
  void take(const TileSources& tile, std::array<W, tile_groups>& numbers);

 private:
  ListChooser chooser_;
  std::array<std::unique_ptr<std::uint8_t[]>, length_lists> lists_;
  std::array<const std::uint8_t*, length_lists> next_{}, ends_{};
  const std::uint8_t* bits_ = nullptr;
  std::uint64_t place_ = 0, bit_count_ = 0;
};

}  // namespace sidestream::trees
