// The general compressor behind the coders of values: zstd, or zlib in builds without it. A file says which it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::trees {

/// Of one chunk: trials, parts and the whole are packed one after the other, in memory that is allocated once.
class Packer {
 public:
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  /// Appends the packed form of `in`: a byte that says how, then what the compressor made; as they are if that saves
  /// nothing. `level`: as zstd counts, 1 to 19; 0: bytes that do not repeat each other, of which some are more
  /// frequent.
  void pack(std::span<const std::uint8_t> in, int level, Bytes& out);

 private:
  /// By the compressor of this build: makes at most `room` bytes; 0 if it would need more.
  [[nodiscard]] std::size_t compress(std::span<const std::uint8_t> in, int level, std::span<std::byte> room);
  struct State;
  std::unique_ptr<State> state_;
};

/// Fills `out`. Throws Error(file) where `in` is not what pack made of that many bytes.
void unpack(BytesView in, std::span<std::uint8_t> out);

/// What packed forms begin with.
enum class Packed : std::uint8_t { stored = 0, zlib = 1, zstd = 2 };

/// Of this build.
[[nodiscard]] Packed compressor() noexcept;
/// False: the bytes are damaged. Throws Error(file) if this build cannot undo it.
[[nodiscard]] bool decompress_zstd(BytesView in, std::span<std::uint8_t> out);

}  // namespace sidestream::trees
