// The general compressor of the codec: zstd, or zlib in builds without it. Packed bytes name their library. Bytes are
// shuffled before compression if this helps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::trees {

/// Compresses parts of one chunk, one after the other, in memory that is allocated once.
class Packer {
 public:
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  /// Appends the packed form of `in`: a byte with the method, then the compressed bytes, or `in` itself if that is not
  /// longer. `level`: 1 to 19 as in zstd; 0 for bytes that do not repeat in sequences but differ in frequency.
  void pack(std::span<const std::uint8_t> in, int level, Bytes& out);

 private:
  /// Compresses with this build's library to at most room.size() bytes; 0 if it would need more.
  [[nodiscard]] std::size_t compress(std::span<const std::uint8_t> in, int level, std::span<std::byte> target);
  struct State;
  std::unique_ptr<State> state_;
};

/// Fills `out`. Throws Error(file) if `in` does not unpack to that many bytes.
void unpack(BytesView in, std::span<std::uint8_t> out);

/// The first byte of a packed form.
enum class Packed : std::uint8_t { stored = 0, zlib = 1, zstd = 2 };

/// The compressor of this build.
[[nodiscard]] Packed compressor() noexcept;
/// False if the bytes are damaged. Throws Error(file) if this build lacks zstd.
[[nodiscard]] bool decompress_zstd(BytesView in, std::span<std::uint8_t> out);

/// Byte shuffle: groups bytes of the same significance. Replaces `out`. An incomplete last element is copied behind the
/// others.
void shuffle(BytesView in, std::size_t width, Bytes& out);
/// The inverse of shuffle(); `out` has the size of `in`.
void unshuffle(BytesView in, std::size_t width, std::span<std::byte> out);

}  // namespace sidestream::trees
