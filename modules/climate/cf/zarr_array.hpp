// An array of a Zarr store: its description, and the form of its files.
//
// An array of values has a file (a shard) per iteration: inner chunks, one after the other, and behind them the table
// of their places. Chunks are runs of whole rows along the first dimension without time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "climate/cf/zarr_codecs.hpp"
#include "sidestream/data/box.hpp"
#include "sidestream/kit/storage/hdf5/cf_axes.hpp"

namespace sidestream {

/// The description of one array; its first dimension may be time.
struct ZarrArray {
  std::string name;
  Type type = Type::float64;
  bool over_time = true;
  std::vector<Index> shape{};  ///< extents without time
  Index in_chunk = 1;          ///< entries along the first of these in an inner chunk; 0: chunks of many iterations
  std::vector<std::string> dimensions{};
  Attributes attributes{};
  ZarrCodecs codecs{};  ///< of inner chunks
};

inline constexpr Index times_of_chunk = 1024;  ///< entries in a file of `time`, `cycle` and `iteration`

/// Divides the array into inner chunks that are not much larger than 1 MiB.
void choose_chunks(ZarrArray& array);

/// The content of the array's zarr.json.
[[nodiscard]] JsonObject json_of(const ZarrArray& array, std::size_t iterations);
[[nodiscard]] JsonObject json_of(const Attributes& attributes);

// The values of an array in an iteration, without time.

/// The bytes of all chunks before they are encoded. The last chunk is whole, though rows may lie outside the array.
[[nodiscard]] std::uint64_t bytes_of_shard(const ZarrArray& array);
[[nodiscard]] std::uint64_t chunks_of_shard(const ZarrArray& array);
/// True for values of which those that nobody wrote are NaN; others are 0.
[[nodiscard]] bool is_real(Type type) noexcept;

/// Appends the bytes of a number or record.
template <class T>
void append_record(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The table of chunks with these lengths, which lie one after the other from the beginning of the file.
[[nodiscard]] std::string index_of_shard(std::span<const std::uint64_t> lengths);
/// The same for chunks that are stored as they are.
[[nodiscard]] std::string index_of_shard(const ZarrArray& array);

}  // namespace sidestream
