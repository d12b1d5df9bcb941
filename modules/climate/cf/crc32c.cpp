#include "climate/cf/crc32c.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace sidestream {

namespace {

constexpr std::uint32_t polynomial = 0x82f63b78u;  ///< reflected
constexpr std::size_t at_a_time = 8;

using Tables = std::array<std::array<std::uint32_t, 256>, at_a_time>;

/// tables[n][b]: what byte b does to the sum if n more bytes follow it.
constexpr Tables tables = [] {
  Tables made{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t sum = b;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1u) != 0 ? polynomial : 0u);
    made[0][b] = sum;
  }
  for (std::size_t n = 1; n < at_a_time; ++n) {
    for (std::size_t b = 0; b < 256; ++b) {
      const std::uint32_t before = made[n - 1][b];
      made[n][b] = (before >> 8) ^ made[0][before & 255u];
    }
  }
  return made;
}();

std::uint32_t by_tables(std::uint32_t sum, std::string_view bytes) noexcept {
  static_assert(std::endian::native == std::endian::little);
  for (; bytes.size() >= at_a_time; bytes.remove_prefix(at_a_time)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= sum;
    sum = 0;
    for (std::size_t n = 0; n < at_a_time; ++n) sum ^= tables[at_a_time - 1 - n][(word >> (8 * n)) & 255u];
  }
  for (const char c : bytes) sum = (sum >> 8) ^ tables[0][(sum ^ static_cast<unsigned char>(c)) & 255u];
  return sum;
}

#if defined(__x86_64__) && defined(__GNUC__)
/// By the processor's own instruction, at more than 5 GB/s.
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::uint32_t sum, std::string_view bytes) noexcept {
  std::uint64_t wide = sum;
  for (; bytes.size() >= sizeof wide; bytes.remove_prefix(sizeof wide)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  sum = static_cast<std::uint32_t>(wide);
  for (const char c : bytes) sum = __builtin_ia32_crc32qi(sum, static_cast<unsigned char>(c));
  return sum;
}

bool has_instruction() noexcept { return __builtin_cpu_supports("sse4.2") != 0; }
#else
std::uint32_t by_instruction(std::uint32_t sum, std::string_view bytes) noexcept { return by_tables(sum, bytes); }

bool has_instruction() noexcept { return false; }
#endif

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  return ~(has_instruction() ? by_instruction(~0u, bytes) : by_tables(~0u, bytes));
}

std::uint32_t crc32c_by_tables(std::string_view bytes) noexcept { return ~by_tables(~0u, bytes); }

}  // namespace sidestream
