// CRC-32C against the examples of RFC 3720 and a bit by bit computation.
#include <doctest/doctest.h>

#include <string>

#include "climate/cf/crc32c.hpp"

using sidestream::crc32c;
using sidestream::crc32c_by_tables;

namespace {

/// A division of polynomials, one bit after the other.
std::uint32_t bit_by_bit(const std::string& bytes) {
  std::uint32_t sum = ~0u;
  for (const char c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool odd = ((sum ^ (static_cast<unsigned char>(c) >> bit)) & 1u) != 0;
      sum = (sum >> 1) ^ (odd ? 0x82f63b78u : 0u);
    }
  }
  return ~sum;
}

}  // namespace

TEST_CASE("the examples of RFC 3720") {
  std::string up, down;
  for (int n = 0; n < 32; ++n) {
    up.push_back(static_cast<char>(n));
    down.push_back(static_cast<char>(31 - n));
  }
  for (const auto sum : {crc32c, crc32c_by_tables}) {
    CHECK(sum("") == 0);
    CHECK(sum("123456789") == 0xe3069283u);
    CHECK(sum(std::string(32, '\0')) == 0x8a9136aau);
    CHECK(sum(std::string(32, '\xff')) == 0x62a8ab43u);
    CHECK(sum(up) == 0x46dd794eu);
    CHECK(sum(down) == 0x113fdb5cu);
  }
}

TEST_CASE("every length and alignment") {
  std::string text;
  for (int n = 0; n < 100; ++n) text.push_back(static_cast<char>(n * n * 37 + n));
  for (std::size_t first = 0; first < 9; ++first) {
    for (std::size_t size = 0; size < 60; ++size) {
      const std::string part = text.substr(first, size);
      CHECK(crc32c(std::string_view(text).substr(first, size)) == bit_by_bit(part));
      CHECK(crc32c_by_tables(std::string_view(text).substr(first, size)) == bit_by_bit(part));
    }
  }
}
