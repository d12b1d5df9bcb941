// Sums of real numbers that do not depend on the order.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace sidestream {

/// The exact sum of any number of doubles, kept as one long fixed-point integer and rounded once, at the end.
/// So the result has the same bits for every division and order of the numbers; ordinary addition is not associative.
///
/// The small superaccumulator of Radford M. Neal, "Fast exact summation using small and large superaccumulators"
/// (arXiv:1505.05571, 2015). 32-bit pieces lie in 64-bit words, so that carries are needed only now and then. Takes up
/// to 2^62 numbers.
class ExactSum {
 public:
  /// Words of the serialised form.
  static constexpr std::size_t words = 71;

  void add(double x) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto exponent = static_cast<unsigned>(bits >> 52) & 0x7ff;
    if (exponent == 0x7ff) return add_special(x);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    const std::uint64_t mantissa = exponent == 0 ? fraction << 1 : fraction | std::uint64_t{1} << 52;
    const unsigned piece = exponent >> 5, shift = exponent & 31;
    const auto low = static_cast<std::int64_t>((mantissa << shift) & 0xffffffffu);
    const auto high = static_cast<std::int64_t>(mantissa >> (32 - shift));
    const std::int64_t sign = static_cast<std::int64_t>(bits) >> 63;  // 0 or -1
    pieces_[piece] += (low ^ sign) - sign;
    pieces_[piece + 1] += (high ^ sign) - sign;
    if (++pending_ == most_pending) carry();
  }
  void add(std::span<const double> values) noexcept {
    for (const double x : values) add(x);
  }
  /// Adds a * b without rounding it. A product that overflows counts as an infinity; bits of a product below 2^-1074
  /// are lost.
  void add_product(double a, double b) noexcept;
  void add(const ExactSum& other) noexcept;

  /// The sum, rounded once, to nearest and ties to even. NaN if a NaN or infinities of both signs were added; an
  /// infinity if an infinity was added or the sum exceeds the greatest double.
  [[nodiscard]] double value() const noexcept;
  /// The sum as four doubles, which hold more than 200 bits of it. Each is the rounded remainder of the earlier ones.
  [[nodiscard]] std::array<double, 4> expansion() const noexcept;

  /// The form that is sent. The element-wise integer sum of such forms over less than 2^31 members, as
  /// Communicator::sum computes it, is the form of the total.
  [[nodiscard]] std::array<std::int64_t, words> serialise() const noexcept;
  [[nodiscard]] static ExactSum deserialise(std::span<const std::int64_t, words> form) noexcept;

 private:
  // Piece n counts units of 2^(32 n - 1075). 65 pieces cover every finite double, the others take the carries.
  static constexpr int piece_count = 68;
  static constexpr int most_pending = 1000;  // each number adds less than 2^53 to a piece

  void add_special(double x) noexcept;
  /// Brings all pieces except the last into 0 .. 2^32 - 1.
  void carry() noexcept;

  std::array<std::int64_t, piece_count> pieces_{};
  std::int64_t nans_ = 0, plus_infinities_ = 0, minus_infinities_ = 0;
  int pending_ = 0;
};

}  // namespace sidestream
