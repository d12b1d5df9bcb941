// The codecs of inner chunks: how their bytes are compressed and checked, after the values themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/storage/files/json_object.hpp"

namespace sidestream {

struct ZarrCodecs {
  enum class Packer { none, gzip, zstd };
  Packer by = Packer::none;
  int level = 1;
  bool shuffle = false;   ///< bytes of the same significance are next to each other, in a frame of Blosc
  bool checksum = false;  ///< a CRC-32C behind each chunk

  /// False if a chunk is stored as it is, so that its place and its size are known beforehand.
  [[nodiscard]] bool any() const noexcept { return by != Packer::none || checksum; }
  /// The list of codecs for values of `type`.
  [[nodiscard]] std::vector<JsonObject> described(Type type) const;
  /// Appends a chunk of values of `width` bytes to `out`. The same chunk always gives the same bytes. Throws
  /// Error(file) if the library fails.
  void encode(BytesView chunk, std::size_t width, Bytes& out) const;
};

/// The options `compression`, `level`, `shuffle` and `checksum`.
[[nodiscard]] OptionTable<ZarrCodecs> zarr_codec_options();

/// The largest chunk that a frame of Blosc can have, in bytes.
inline constexpr std::uint64_t most_shuffled = (std::uint64_t{1} << 31) - 1 - 16;

/// The description of the codec `bytes`.
[[nodiscard]] JsonObject zarr_bytes_codec(Type type);

/// An object with a name and its configuration, as Zarr has many.
[[nodiscard]] JsonObject zarr_named(std::string_view name, const JsonObject& configuration);
/// The same without a configuration.
[[nodiscard]] JsonObject zarr_named(std::string_view name);

// zstd, where this build has it.

[[nodiscard]] bool has_zstd() noexcept;
/// Room for the compressed form of that many bytes.
[[nodiscard]] std::size_t zstd_room(std::size_t size);
/// Compresses into `room`. Returns the size, or 0 if it needs more room.
[[nodiscard]] std::size_t zstd_pack(BytesView in, int level, std::span<std::byte> room);

}  // namespace sidestream
