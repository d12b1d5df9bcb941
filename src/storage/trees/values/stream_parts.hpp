// What streams begin and end with, and numbers in between.
#pragma once

#include <cstdint>

#include "storage/trees/values/value_coder.hpp"

namespace sidestream::trees {

/// The first bytes: a byte with the version in its upper half and the method in its lower; a byte of flags; and the
/// companions' bits in four bytes if there are any.
struct StreamHead {
  TreeMethod method = TreeMethod::raw;
  bool parents = false, beside = false;
  std::uint32_t companions = 0;
};

void put_head(const StreamHead& head, Bytes& out);
/// Throws Error(file). Takes the head off the front of `stream`.
[[nodiscard]] StreamHead take_head(BytesView& stream);

/// The last bytes: the checksum of the values.
void put_checksum(BytesView values, Bytes& out);
inline constexpr std::size_t checksum_size = 8;

void put_byte(std::uint8_t byte, Bytes& out);
/// Seven bits a byte, the lowest first; the last byte is below 128.
void put_number(std::uint64_t number, Bytes& out);

/// These throw Error(file) where bytes are missing, and take what they return off the front.
[[nodiscard]] std::uint8_t take_byte(BytesView& stream);
[[nodiscard]] std::uint64_t take_number(BytesView& stream);
[[nodiscard]] BytesView take_bytes(BytesView& stream, std::uint64_t size);

[[noreturn]] void fail_damaged(const char* what);

[[nodiscard]] inline const std::uint8_t* as_bytes(BytesView bytes) noexcept {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

}  // namespace sidestream::trees
