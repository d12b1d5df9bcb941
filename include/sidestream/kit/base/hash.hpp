// Hashes for comparing layouts on which two ends must agree. They do not protect against forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace sidestream {

/// FNV-1a of 64 bits.
class Hash {
 public:
  constexpr void add(unsigned char byte) noexcept { value_ = (value_ ^ byte) * 0x100000001b3ull; }
  /// Adds the eight bytes of a number, lowest first.
  constexpr void add(std::uint64_t number) noexcept {
    for (int n = 0; n < 8; ++n) add(static_cast<unsigned char>(number >> (8 * n)));
  }
  constexpr void add(std::string_view text) noexcept {
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
  constexpr Hash() noexcept = default;
  /// Continues from a value.
  constexpr explicit Hash(std::uint64_t value) noexcept : value_(value) {}

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

/// FNV-1a of 32 bits, one number per step. It is stored in files of streams and in packets, and readers compare it.
[[nodiscard]] constexpr std::uint32_t hash_of_sizes(std::initializer_list<std::size_t> sizes) noexcept {
  std::uint32_t hash = 2166136261u;
  for (const std::size_t size : sizes) hash = (hash ^ static_cast<std::uint32_t>(size)) * 16777619u;
  return hash;
}

// Mixing of bits.

/// A number in which every bit depends on all bits of `x`. This is the finaliser of splitmix64 (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", 2014).
[[nodiscard]] constexpr std::uint64_t mixed_bits(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace sidestream
