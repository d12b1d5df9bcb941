// Exact sums after Radford M. Neal, "Fast exact summation using small and large superaccumulators" (arXiv:1505.05571,
// 2015). The bits of a double are added to the 32-bit pieces of a long fixed-point number; pieces lie in 64-bit words,
// so that carries are postponed. The value is rounded once: to the 53 highest bits, ties to even by the bits below
// them.
#include "sidestream/extend/exact_sum.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace sidestream {
namespace {

constexpr int piece_bits = 32;

/// The bits lowest .. lowest + count - 1 (count <= 64) of a long number of 32-bit pieces; bits below 0 are 0.
template <class Pieces>
std::uint64_t bits_from(const Pieces& pieces, int lowest, int count) {
  std::uint64_t result = 0;
  for (int b = count - 1; b >= 0; --b) {
    const int at = lowest + b;
    const auto bit = at < 0 ? 0 : pieces[static_cast<std::size_t>(at / piece_bits)] >> (at % piece_bits) & 1;
    result = result << 1 | static_cast<std::uint64_t>(bit);
  }
  return result;
}

/// True if any bit below `end` is set.
template <class Pieces>
bool any_below(const Pieces& pieces, int end) {
  for (int n = 0; n * piece_bits < end; ++n) {
    const int rest = end - n * piece_bits;
    const std::int64_t mask = rest >= piece_bits ? -1 : (std::int64_t{1} << rest) - 1;
    if (pieces[static_cast<std::size_t>(n)] & mask) return true;
  }
  return false;
}

}  // namespace

void ExactSum::add_product(double a, double b) noexcept {
  const double product = a * b;
  add(product);
  if (!std::isfinite(product)) return;
  const double rest = std::fma(a, b, -product);
  if (rest != 0) add(rest);
}

void ExactSum::add_special(double x) noexcept {
  if (std::isnan(x)) {
    ++nans_;
  } else {
    ++(x > 0 ? plus_infinities_ : minus_infinities_);
  }
}

void ExactSum::carry() noexcept {
  std::int64_t over = 0;
  for (int n = 0; n < piece_count - 1; ++n) {
    const std::int64_t sum = pieces_[n] + over;
    over = sum >> piece_bits;  // rounds down, so the remainder is not negative
    pieces_[n] = sum & 0xffffffff;
  }
  pieces_[piece_count - 1] += over;
  pending_ = 0;
}

void ExactSum::add(const ExactSum& other) noexcept {
  carry();
  ExactSum copy = other;
  copy.carry();
  for (int n = 0; n < piece_count; ++n) pieces_[n] += copy.pieces_[n];
  carry();
  nans_ += other.nans_;
  plus_infinities_ += other.plus_infinities_;
  minus_infinities_ += other.minus_infinities_;
}

double ExactSum::value() const noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (nans_ > 0 || (plus_infinities_ > 0 && minus_infinities_ > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (plus_infinities_ > 0) return infinity;
  if (minus_infinities_ > 0) return -infinity;
  ExactSum whole = *this;
  whole.carry();
  const bool negative = whole.pieces_.back() < 0;
  if (negative) {
    for (std::int64_t& piece : whole.pieces_) piece = -piece;
    whole.carry();
  }
  int top = piece_count - 1;
  while (top >= 0 && whole.pieces_[top] == 0) --top;
  if (top < 0) return 0.0;
  const int width = std::bit_width(static_cast<std::uint64_t>(whole.pieces_[top]));
  const int highest = top * piece_bits + width - 1;
  if (highest - 1075 > 1024) return negative ? -infinity : infinity;
  // The lowest bit that a double can have is bit 1, 2^-1074; nothing is ever added below it.
  const int lowest = std::max(highest - 52, 1);
  std::uint64_t mantissa = bits_from(whole.pieces_, lowest, highest - lowest + 1);
  const bool half = lowest > 0 && bits_from(whole.pieces_, lowest - 1, 1);
  if (half && (any_below(whole.pieces_, lowest - 1) || (mantissa & 1))) ++mantissa;
  const double size = std::ldexp(static_cast<double>(mantissa), lowest - 1075);
  return negative ? -size : size;
}

std::array<double, 4> ExactSum::expansion() const noexcept {
  std::array<double, 4> terms{};
  ExactSum rest = *this;
  for (double& term : terms) {
    term = rest.value();
    if (!std::isfinite(term)) return {term, 0, 0, 0};
    rest.add(-term);
  }
  return terms;
}

std::array<std::int64_t, ExactSum::words> ExactSum::serialise() const noexcept {
  ExactSum copy = *this;
  copy.carry();
  std::array<std::int64_t, words> form;
  for (int n = 0; n < piece_count; ++n) form[n] = copy.pieces_[n];
  form[piece_count] = nans_;
  form[piece_count + 1] = plus_infinities_;
  form[piece_count + 2] = minus_infinities_;
  return form;
}

ExactSum ExactSum::deserialise(std::span<const std::int64_t, words> form) noexcept {
  ExactSum sum;
  for (int n = 0; n < piece_count; ++n) sum.pieces_[n] = form[n];
  sum.nans_ = form[piece_count];
  sum.plus_infinities_ = form[piece_count + 1];
  sum.minus_infinities_ = form[piece_count + 2];
  sum.carry();
  return sum;
}

}  // namespace sidestream
