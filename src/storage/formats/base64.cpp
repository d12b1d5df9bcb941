#include "storage/formats/base64.hpp"

#include <algorithm>
#include <cstring>

namespace sidestream {

namespace {

constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Two characters for each 12-bit value, so that three bytes need two look-ups.
constexpr auto pairs = [] {
  std::array<std::array<char, 2>, 4096> table{};
  for (std::size_t n = 0; n < table.size(); ++n) table[n] = {alphabet[n >> 6], alphabet[n & 63]};
  return table;
}();

constexpr std::size_t part_size = 3u << 16;  ///< bytes encoded at a time; a multiple of three

}  // namespace

void base64_encode(std::span<const std::byte> bytes, char* out) noexcept {
  const auto* in = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  for (; left >= 3; left -= 3, in += 3, out += 4) {
    const unsigned value = unsigned{in[0]} << 16 | unsigned{in[1]} << 8 | in[2];
    std::memcpy(out, pairs[value >> 12].data(), 2);
    std::memcpy(out + 2, pairs[value & 4095].data(), 2);
  }
  if (left == 0) return;
  const unsigned value = unsigned{in[0]} << 16 | (left == 2 ? unsigned{in[1]} << 8 : 0u);
  std::memcpy(out, pairs[value >> 12].data(), 2);
  out[2] = left == 2 ? alphabet[value >> 6 & 63] : '=';
  out[3] = '=';
}

void Base64Stream::append(std::span<const std::byte> bytes) {
  if (rest_size_ > 0) {
    const std::size_t taken = std::min(3 - rest_size_, bytes.size());
    std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(rest_size_));
    rest_size_ += taken;
    bytes = bytes.subspan(taken);
    if (rest_size_ < 3) return;
    encode(rest_);
  }
  while (bytes.size() >= 3) {
    const std::size_t size = std::min(part_size, bytes.size() / 3 * 3);
    encode(bytes.first(size));
    bytes = bytes.subspan(size);
  }
  rest_size_ = bytes.size();
  std::copy(bytes.begin(), bytes.end(), rest_.begin());
}

void Base64Stream::finish() {
  encode(std::span(rest_).first(rest_size_));
  rest_size_ = 0;
}

void Base64Stream::encode(std::span<const std::byte> bytes) {
  text_.resize(base64_size(bytes.size()));
  base64_encode(bytes, text_.data());
  file_.write(text_);
}

}  // namespace sidestream
