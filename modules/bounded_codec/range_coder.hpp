// A binary arithmetic coder with adaptive probabilities (a range coder; Martin 1979).
//
//   range is split in proportion to the two probabilities; `low` is where the chosen part begins
//   whenever range has lost a byte, the highest byte of `low` is done; a carry goes into bytes before it
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::bounded {

/// The probability of a bit in one context. It learns fast at first, then slowly.
class BitModel {
 public:
  /// The probability of a zero, times 2^16.
  [[nodiscard]] std::uint32_t zero() const noexcept { return zero_; }
  /// `ones`: all ones for a one, otherwise 0.
  [[gnu::always_inline]] void learn(std::uint32_t ones) noexcept {
    const std::int32_t target = most - static_cast<std::int32_t>(ones & static_cast<std::uint32_t>(most - least));
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

/// Writes to memory that its caller has. Copies of it are cheap: a loop has its own, in registers.
///
/// `low` has 32 bits that still change, and above them the last four bytes, for carries. They are written again with
/// each byte, which is faster than to find out which of them are final.
class Encoder {
 public:
  /// `out`: four bytes more than are needed.
  explicit Encoder(std::span<std::byte> out) : begin_(out.data()), at_(begin_ + window), end_(begin_ + out.size()) {}
  [[gnu::always_inline]] void put(bool bit, BitModel& model) noexcept {
    // Range becomes the part of a zero, or what is left of it, without a branch on a bit that is often guessed wrongly:
    // only one product and one sum stand between a bit and the next.
    const std::uint32_t ones = bit ? 0xffffffffU : 0;
    const std::uint32_t zero = model.zero(), signed_zero = (zero ^ ones) - ones;
    const std::uint32_t next = (range_ & ones) + (range_ >> 16) * signed_zero;
    add((range_ - next) & ones);
    range_ = next;
    model.learn(ones);
    while (range_ < least_range) shift();
  }
  /// Bits that nothing is known of; `count`: at most 16.
  [[gnu::always_inline]] void put_plain(std::uint32_t bits, int count) noexcept {
    range_ >>= count;
    add(bits * range_);
    while (range_ < least_range) shift();
  }
  /// True if `bytes` might not fit.
  [[nodiscard]] bool lacks(std::ptrdiff_t bytes) const noexcept { return end_ - at_ < bytes; }
  /// Returns the bytes.
  [[nodiscard]] BytesView finish() noexcept {
    for (int n = 0; n < 4; ++n) shift();
    write_window();
    return {begin_ + window, at_};
  }

 private:
  static constexpr std::ptrdiff_t window = 4;
  [[gnu::always_inline]] void add(std::uint32_t part) noexcept {
    low_ += part;
    if (low_ < part) [[unlikely]]
      carry_before(at_ - window);
  }
  [[gnu::always_inline]] void shift() noexcept {
    write_window();
    ++at_;
    low_ <<= 8;
    range_ <<= 8;
  }
  [[gnu::always_inline]] void write_window() noexcept {
    const std::uint32_t bytes = __builtin_bswap32(static_cast<std::uint32_t>(low_ >> 32));
    std::memcpy(at_ - window, &bytes, sizeof bytes);
  }
  /// The carry cannot go beyond the first byte: low and range together never exceed the whole.
  [[gnu::noinline]] static void carry_before(std::byte* carried) noexcept {
    --carried;
    while (*carried == std::byte{0xff}) *carried-- = std::byte{0};
    *carried = static_cast<std::byte>(std::to_integer<unsigned>(*carried) + 1);
  }
  std::byte* begin_;
  std::byte* at_;
  std::byte* end_;
  std::uint64_t low_ = 0;
  std::uint32_t range_ = 0xffffffffU;
};

/// Throws Error(file) if the bytes end early.
class Decoder {
 public:
  explicit Decoder(BytesView in) : in_(in) {
    for (int n = 0; n < 4; ++n) code_ = code_ << 8 | next();
  }
  /// A bit that the caller branches on.
  [[nodiscard, gnu::always_inline]] bool get(BitModel& model) {
    const std::uint32_t part = (range_ >> 16) * model.zero();
    const bool bit = code_ >= part;
    if (bit) {
      code_ -= part;
      range_ -= part;
      model.learn(0xffffffffU);
    } else {
      range_ = part;
      model.learn(0);
    }
    refill();
    return bit;
  }
  /// The same of a bit that is as good as random, without a branch: 0 or 1.
  [[nodiscard, gnu::always_inline]] std::uint32_t get_random(BitModel& model) {
    const std::uint32_t part = (range_ >> 16) * model.zero();
    const std::uint32_t bit = code_ >= part ? 1 : 0, ones = 0U - bit;
    code_ -= part & ones;
    range_ = part + ((range_ - 2 * part) & ones);
    model.learn(ones);
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
