// A binary arithmetic coder with adaptive probabilities (a range coder; Martin 1979).
//
//   range is split in proportion to the two probabilities; `low` is where the chosen part begins
//   whenever range has lost a byte, the highest byte of `low` is written; a carry goes into bytes written before
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::bounded {

/// The probability of a bit in one context. It learns fast at first, then slowly.
class BitModel {
 public:
  /// The probability of a zero, times 2^16.
  [[nodiscard]] std::uint32_t zero() const noexcept { return zero_; }
  void learn(bool bit) noexcept {
    const std::int32_t target = bit ? least : most;
    zero_ = static_cast<std::uint16_t>(zero_ + ((target - zero_) * rates[seen_] >> 16));
    if (seen_ + 1U < rates.size()) ++seen_;
  }

 private:
  static constexpr std::int32_t least = 32, most = 65536 - 32;
  static constexpr std::array<std::int32_t, 192> rates = [] {
    std::array<std::int32_t, 192> made{};
    for (std::int32_t n = 0; n < 192; ++n) made[static_cast<std::size_t>(n)] = 2 * 65536 / (2 * n + 4);
    return made;
  }();
  std::uint16_t zero_ = 1 << 15;
  std::uint16_t seen_ = 0;
};

inline constexpr std::uint32_t least_range = 1U << 24;

/// Writes to memory that its caller has; room for a value is left while is_full() is false.
class Encoder {
 public:
  explicit Encoder(std::span<std::byte> out) : begin_(out.data()), at_(begin_), end_(begin_ + out.size()) {}
  void put(bool bit, BitModel& model) noexcept {
    const std::uint32_t part = (range_ >> 16) * model.zero();
    add(bit ? part : 0);
    range_ = bit ? range_ - part : part;
    model.learn(bit);
    while (range_ < least_range) shift();
  }
  /// Bits that nothing is known of, the highest first; at most 64.
  void put_plain(std::uint64_t bits, int count) noexcept {
    while (count > 0) {
      const int now = count < 16 ? count : 16;
      count -= now;
      range_ >>= now;
      add(static_cast<std::uint32_t>(bits >> count & ((1U << now) - 1)) * range_);
      while (range_ < least_range) shift();
    }
  }
  /// True if the next value might not fit.
  [[nodiscard]] bool is_full() const noexcept { return end_ - at_ < most_of_value; }
  /// Returns the number of bytes.
  [[nodiscard]] std::size_t finish() noexcept {
    for (int n = 0; n < 4; ++n) shift();
    return static_cast<std::size_t>(at_ - begin_);
  }
  static constexpr std::ptrdiff_t most_of_value = 128;

 private:
  void add(std::uint32_t part) noexcept {
    low_ += part;
    if (low_ >= part) return;
    // The carry cannot go beyond the first byte: low and range together never exceed the whole.
    std::byte* carried = at_ - 1;
    while (*carried == std::byte{0xff}) *carried-- = std::byte{0};
    *carried = static_cast<std::byte>(std::to_integer<unsigned>(*carried) + 1);
  }
  void shift() noexcept {
    *at_++ = static_cast<std::byte>(low_ >> 24);
    low_ <<= 8;
    range_ <<= 8;
  }
  std::byte* begin_;
  std::byte* at_;
  std::byte* end_;
  std::uint32_t low_ = 0, range_ = 0xffffffffU;
};

/// Throws Error(file) if the bytes end early.
class Decoder {
 public:
  explicit Decoder(BytesView in) : in_(in) {
    for (int n = 0; n < 4; ++n) code_ = code_ << 8 | next();
  }
  [[nodiscard]] bool get(BitModel& model) {
    const std::uint32_t part = (range_ >> 16) * model.zero();
    const bool bit = code_ >= part;
    if (bit) {
      code_ -= part;
      range_ -= part;
    } else {
      range_ = part;
    }
    model.learn(bit);
    refill();
    return bit;
  }
  [[nodiscard]] std::uint64_t get_plain(int count) {
    std::uint64_t bits = 0;
    while (count > 0) {
      const int now = count < 16 ? count : 16;
      count -= now;
      range_ >>= now;
      std::uint32_t part = code_ / range_;
      if (part >> now != 0) part = (1U << now) - 1;  // only in damaged bytes
      code_ -= part * range_;
      bits = bits << now | part;
      refill();
    }
    return bits;
  }
  /// False if bytes are left.
  [[nodiscard]] bool is_at_end() const noexcept { return at_ == in_.size(); }

 private:
  void refill() {
    while (range_ < least_range) {
      range_ <<= 8;
      code_ = code_ << 8 | next();
    }
  }
  std::uint32_t next() {
    if (at_ == in_.size()) fail(Code::file, "values of the codec 'bounded' end after {} bytes; they are damaged", at_);
    return std::to_integer<std::uint32_t>(in_[at_++]);
  }
  BytesView in_;
  std::size_t at_ = 0;
  std::uint32_t range_ = 0xffffffffU, code_ = 0;
};

}  // namespace sidestream::bounded
