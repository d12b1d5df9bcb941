#include "sidestream/kit/reduce/great_sums.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sidestream {
namespace {

// The serialised form: pieces of 32 bits, of which the last has the sign and may have more bits; then the counts of
// NaN, of +infinity and of -infinity.
using Form = std::array<std::int64_t, ExactSum::words>;
constexpr std::size_t pieces = ExactSum::words - 3, moved = great_bits / 32;

/// sum * 2^great_bits.
ExactSum raised(const ExactSum& sum) noexcept {
  const Form from = sum.serialise();
  Form to = from;
  std::fill_n(to.begin(), moved, 0);
  std::copy_n(from.begin(), pieces - moved - 1, to.begin() + moved);
  const auto low = static_cast<std::uint64_t>(from[pieces - moved - 1]);
  const auto high = static_cast<std::uint64_t>(from[pieces - moved]);
  to[pieces - 1] = static_cast<std::int64_t>(low + (high << 32));  // with the sign of the piece above
  return ExactSum::deserialise(to);
}

}  // namespace

bool is_great(const ExactSum& sum) noexcept {
  const Form form = sum.serialise();
  const bool finite = std::all_of(form.begin() + pieces, form.end(), [](std::int64_t count) { return count == 0; });
  return finite && std::isinf(sum.value());
}

ExactSum lowered(const ExactSum& sum) noexcept {
  const Form from = sum.serialise();
  Form to = from;
  std::copy_n(from.begin() + moved, pieces - moved, to.begin());
  std::fill_n(to.begin() + (pieces - moved), moved, 0);
  return ExactSum::deserialise(to);
}

double product_of(const ExactSum& sum, double factor) noexcept {
  return is_great(sum) ? std::ldexp(factor * lowered(sum).value(), great_bits) : factor * sum.value();
}

double quotient_of(const ExactSum& sum, double divisor) noexcept {
  if (!is_great(sum)) return sum.value() / divisor;
  // Includes the remainder of the division, so that the mean of the greatest doubles is not rounded beyond them.
  const std::array<double, 4> terms = lowered(sum).expansion();
  const double quotient = terms[0] / divisor, rest = std::fma(-quotient, divisor, terms[0]) + terms[1];
  return std::ldexp(quotient + rest / divisor, great_bits);
}

void add_weighted(ExactSum& total, const ExactSum& sum, double weight) noexcept {
  if (weight == 1) return total.add(sum);
  if (!is_great(sum)) {
    for (const double term : sum.expansion()) total.add_product(weight, term);
    return;
  }
  ExactSum part;
  for (const double term : lowered(sum).expansion()) part.add_product(weight, term);
  total.add(raised(part));
}

}  // namespace sidestream
