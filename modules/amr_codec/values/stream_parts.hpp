// Beginning and end of streams, and the numbers in them.
#pragma once

#include <cstdint>

#include "amr_codec/values/value_coder.hpp"

namespace sidestream::trees {

/// The first bytes. One has the version (upper half) and the method (lower half), the next one has flags. If there are
/// companions, four bytes with a bit for each follow.
struct StreamHead {
  TreeMethod method = TreeMethod::raw;
  bool parents = false, beside = false;
  std::uint32_t companions = 0;
};

void put_head(const StreamHead& head, Bytes& out);
/// Removes the head from the front of `stream`. Throws Error(file).
[[nodiscard]] StreamHead take_head(BytesView& stream);

/// Appends the checksum of the values, the last bytes of a stream.
void put_checksum(BytesView values, Bytes& out);
inline constexpr std::size_t checksum_size = 8;

void put_byte(std::uint8_t byte, Bytes& out);
/// Appends a number with seven bits in each byte, lowest first; the last byte is below 128.
void put_number(std::uint64_t number, Bytes& out);

/// Removes a byte from the front of `stream` and returns it. This and the following throw Error(file) if bytes are
/// missing.
[[nodiscard]] std::uint8_t take_byte(BytesView& stream);
[[nodiscard]] std::uint64_t take_number(BytesView& stream);
[[nodiscard]] BytesView take_bytes(BytesView& stream, std::uint64_t size);

[[noreturn]] void fail_damaged(const char* what);

[[nodiscard]] inline const std::uint8_t* as_bytes(BytesView bytes) noexcept {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

}  // namespace sidestream::trees
