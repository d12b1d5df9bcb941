// Codes residuals: prefix codes for their kinds (length and second bit), chosen by expected length, and their low bits.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "amr_codec/values/code_table.hpp"
#include "amr_codec/values/elements.hpp"
#include "amr_codec/values/expected_lengths.hpp"
#include "amr_codec/values/packer.hpp"

namespace sidestream::trees {

/// Residuals of predictions by slopes have a code for each child and class of expected lengths; small chunks have one
/// code for all of them. Other residuals have a code for each source.
inline constexpr std::size_t most_classes = 4;
inline constexpr std::size_t slope_codes = 8 * most_classes, length_codes = slope_codes + sources - 1;
/// For each child: the expected length where the second class begins, the third, and so on.
using ClassLimits = std::array<std::array<std::uint16_t, most_classes - 1>, 8>;

/// Codes are distributed to several streams of bits in turn, so that a reader can decode several at a time.
inline constexpr std::size_t lanes = 4;

/// Collects the residuals of a chunk, tile by tile, and codes them at the end.
class ResidualWriter {
 public:
  /// Makes room for at most `numbers` residuals of `size` bytes.
  ResidualWriter(std::size_t numbers, std::size_t size);
  /// As in ExpectedLengths.
  void begin_tile(const double* change, const double* parent, std::size_t count);
  /// Memory for the residuals of the next child, `size` bytes for each group of the tile.
  [[nodiscard]] std::byte* next_residuals() noexcept { return numbers_.get() + count_ * size_; }
  /// Takes the residuals that were written to next_residuals().
  template <class W>
  void put(std::size_t step, const TileSources& tile);
  /// Codes all residuals and appends them to `out`.
  template <class W>
  void finish(Packer& packer, Bytes& out);

 private:
  struct Row {
    std::uint8_t step;
    std::uint16_t count;
  };
  void choose_classes();
  void choose_limits();
  void find_codes();
  void count_kinds();
  void put_head(Packer& packer, Bytes& out);
  void put_codes(Bytes& out) const;
  [[nodiscard]] std::size_t put_lane(std::size_t lane, std::uint8_t* to) const noexcept;
  template <class W>
  void put_low_bits(Bytes& out) const;

  ExpectedLengths expected_;
  unsigned digits_;
  std::size_t size_, count_ = 0;
  std::vector<Row> rows_;
  std::unique_ptr<std::byte[]> numbers_;
  std::unique_ptr<std::uint8_t[]> kinds_;   ///< of each residual
  std::unique_ptr<std::uint16_t[]> marks_;  ///< expected length or source; later the symbols of length_loops
  std::size_t classes_ = 0;
  ClassLimits limits_{};
  std::array<SymbolCounts, length_codes> counts_;
  std::array<CodeTable, length_codes> tables_;
  std::array<CodeWords, length_codes> words_;
};

/// Reads residuals in the order in which they were written.
class ResidualReader {
 public:
  /// Throws Error(file) unless `stream` was finished by a ResidualWriter. The stream must outlive the reader.
  ResidualReader(BytesView stream, std::size_t numbers, std::size_t size);
  void begin_tile(const double* change, const double* parent, std::size_t count);
  /// Reads numbers. Throws Error(file) if there are fewer.
  template <class W>
  void take(std::size_t step, const TileSources& tile, W* numbers);
  /// Ends reading. Throws Error(file) if numbers are left.
  void finish() const;

  struct Lane {
    const std::uint8_t* bytes = nullptr;
    std::uint64_t place = 0;
  };

 private:
  void take_limits(BytesView& head);
  void take_lists(BytesView stream, std::size_t numbers);
  void take_code(std::size_t number, BytesView& head, BytesView& lists, std::size_t numbers);
  void take_listed(const LengthRow& codes, std::size_t count, LengthRow& kinds);

  ExpectedLengths expected_;
  unsigned digits_;
  unsigned greatest_;  ///< the greatest kind of the type
  std::size_t classes_ = 0;
  ClassLimits limits_{};
  std::unique_ptr<std::uint16_t[]> decoders_;
  std::array<std::vector<std::uint8_t>, length_codes> lists_;
  std::array<std::size_t, length_codes> listed_{};  ///< number of entries that were taken from each list
  bool any_listed_ = false;
  std::vector<std::uint8_t> code_bytes_;
  std::array<Lane, lanes> lanes_{};
  std::array<std::uint64_t, lanes> lane_ends_{};
  const std::uint8_t* bits_ = nullptr;
  std::uint64_t place_ = 0, bit_count_ = 0;
};

}  // namespace sidestream::trees
