#include "sidestream/kit/reduce/exact_sum_forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

// The serialised form: pieces of 32 bits, then the counts of NaN, of +infinity and of -infinity. The last piece has the
// sign and may have more bits.
constexpr std::size_t form_words = ExactSum::words - 3;
using Form = std::array<std::int64_t, ExactSum::words>;

// The first word has 7 bits each for the number of the first piece and the number of pieces, a bit for the sign, and
// one for each special value.
constexpr unsigned packed_count_at = 7, sign_at = 14, special_at = 15;
constexpr std::uint32_t seven = 127;

/// Pieces from this one on may exceed doubles. Those before are exactly doubles: piece n counts units of 2^(32 n -
/// 1075), and bit 0 of the first one is never set.
constexpr std::size_t least_beyond = 65;

double piece(std::uint32_t units, std::size_t n) noexcept {
  static const auto scales = [] {
    std::array<double, least_beyond> all{};
    for (std::size_t at = 1; at < all.size(); ++at) all[at] = std::ldexp(1.0, 32 * static_cast<int>(at) - 1075);
    return all;
  }();
  return n == 0 ? static_cast<double>(units >> 1) * 0x1p-1074 : static_cast<double>(units) * scales[n];
}

/// Makes a form absolute; returns true if it was negative.
bool make_positive(Form& form) {
  if (form[form_words - 1] >= 0) return false;
  std::int64_t over = 0;
  for (std::size_t n = 0; n < form_words; ++n) {
    const std::int64_t sum = over - form[n];
    over = sum >> 32;  // rounds down
    form[n] = n + 1 < form_words ? sum & 0xffffffff : sum;
  }
  return true;
}

}  // namespace

void pack(const ExactSum& sum, std::vector<std::uint32_t>& words) {
  Form form = sum.serialise();
  const bool negative = make_positive(form);
  std::size_t first = 0, end = form_words;
  while (end > 0 && form[end - 1] == 0) --end;
  while (first < end && form[first] == 0) ++first;
  std::uint32_t head = static_cast<std::uint32_t>(first) | static_cast<std::uint32_t>(end - first) << packed_count_at |
                       static_cast<std::uint32_t>(negative) << sign_at;
  for (unsigned n = 0; n < 3; ++n) head |= static_cast<std::uint32_t>(form[form_words + n] > 0) << (special_at + n);
  words.push_back(head);
  for (std::size_t n = first; n < end; ++n) words.push_back(static_cast<std::uint32_t>(form[n]));
}

std::size_t packed_length(const std::uint32_t* words, std::size_t left) {
  const std::size_t count = left > 0 ? words[0] >> packed_count_at & seven : 0;
  const std::size_t first = left > 0 ? words[0] & seven : 0;
  if (left > count && first + count <= form_words) return count + 1;
  fail(Code::internal, "an exact sum of {} words stands where {} are left", count + 1, left);
}

std::size_t add_packed(const std::uint32_t* words, std::size_t left, ExactSum& sum) {
  const std::size_t length = packed_length(words, left), first = words[0] & seven;
  const bool negative = (words[0] >> sign_at & 1) != 0;
  if (first + length - 1 <= least_beyond && words[0] >> special_at == 0) {
    for (std::size_t n = 1; n < length; ++n)
      sum.add(negative ? -piece(words[n], first + n - 1) : piece(words[n], first + n - 1));
    return length;
  }
  Form form{};
  for (std::size_t n = 1; n < length; ++n) {
    const auto units = static_cast<std::int64_t>(words[n]);
    form[first + n - 1] = negative ? -units : units;
  }
  for (unsigned n = 0; n < 3; ++n) form[form_words + n] = words[0] >> (special_at + n) & 1;
  sum.add(ExactSum::deserialise(form));
  return length;
}

namespace {

constexpr std::size_t moved = great_bits / 32;  ///< pieces

/// sum * 2^great_bits.
ExactSum raised(const ExactSum& sum) noexcept {
  const Form from = sum.serialise();
  Form to = from;
  std::fill_n(to.begin(), moved, 0);
  std::copy_n(from.begin(), form_words - moved - 1, to.begin() + moved);
  const auto low = static_cast<std::uint64_t>(from[form_words - moved - 1]);
  const auto high = static_cast<std::uint64_t>(from[form_words - moved]);
  to[form_words - 1] = static_cast<std::int64_t>(low + (high << 32));  // with the sign of the piece above
  return ExactSum::deserialise(to);
}

}  // namespace

bool is_great(const ExactSum& sum) noexcept {
  const Form form = sum.serialise();
  const bool finite = std::all_of(form.begin() + form_words, form.end(), [](std::int64_t count) { return count == 0; });
  return finite && std::isinf(sum.value());
}

ExactSum lowered(const ExactSum& sum) noexcept {
  const Form from = sum.serialise();
  Form to = from;
  std::copy_n(from.begin() + moved, form_words - moved, to.begin());
  std::fill_n(to.begin() + (form_words - moved), moved, 0);
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
