// Fast guesses of intervals. A place is (value - offset) * factor, as a whole number of 2^-shift of an interval; for
// equal ratios the value is replaced by a polynomial approximation of its logarithm. The constructor bounds the error
// of the place. A value whose place lies within the bound of an edge is unsure; all others are certain. The loops are
// compiled for several instruction sets and chosen when the program runs.
#include "sidestream/kit/reduce/bins/bin_guess.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "sidestream/kit/reduce/bins/bins.hpp"

namespace sidestream {
namespace {

using Scale = BinGuess::Scale;

/// The place of a value. NaN becomes `least`, since no comparison with it is true.
[[gnu::always_inline]] inline std::int32_t place_of(double x, const Scale& scale) noexcept {
  double place = (x - scale.offset) * scale.factor;
  place = place > scale.least ? place : scale.least;
  place = place < scale.most ? place : scale.most;
  return static_cast<std::int32_t>(place);
}

[[gnu::always_inline]] inline Index linear_any(const double* v, Index n, const Scale& s, std::int32_t* out) noexcept {
  const Scale scale = s;
  std::int64_t none = 0;
  for (Index i = 0; i < n; ++i) {
    none += v[i] != v[i] ? 1 : 0;
    out[i] = place_of(v[i], scale);
  }
  return none;
}

[[gnu::always_inline]] inline Index ratios_any(const double* v, Index n, const Scale& s, std::int32_t* out) noexcept {
  const Scale scale = s;
  const auto offset = static_cast<float>(s.offset), factor = static_cast<float>(s.factor);
  std::int64_t none = 0;
  for (Index i = 0; i < n; ++i) {
    none += v[i] != v[i] ? 1 : 0;
    double bounded = v[i] > scale.smallest ? v[i] : scale.smallest;
    bounded = bounded < scale.greatest ? bounded : scale.greatest;
    const float place = (rough_logarithm::of(static_cast<float>(bounded)) - offset) * factor;
    out[i] = static_cast<std::int32_t>(place);
  }
  return none;
}

[[gnu::always_inline]] inline Index intervals_any(const std::int32_t* at, Index n, int shift, std::int32_t margin,
                                                  std::uint16_t mark, std::uint16_t* out) noexcept {
  const std::int32_t mask = (1 << shift) - 1;
  std::int32_t unsure = 0;
  for (Index i = 0; i < n; ++i) {
    const bool near = ((at[i] + margin) & mask) <= 2 * margin;
    unsure += near ? 1 : 0;
    out[i] = static_cast<std::uint16_t>(near ? mark : (at[i] >> shift) + 1);
  }
  return unsure;
}

struct RowFunctions {
  Index (*linear)(const double*, Index, const Scale&, std::int32_t*) noexcept;
  Index (*ratios)(const double*, Index, const Scale&, std::int32_t*) noexcept;
  Index (*intervals)(const std::int32_t*, Index, int, std::int32_t, std::uint16_t, std::uint16_t*) noexcept;
};

Index linear_plain(const double* v, Index n, const Scale& s, std::int32_t* out) noexcept {
  return linear_any(v, n, s, out);
}
Index ratios_plain(const double* v, Index n, const Scale& s, std::int32_t* out) noexcept {
  return ratios_any(v, n, s, out);
}
Index intervals_plain(const std::int32_t* at, Index n, int shift, std::int32_t margin, std::uint16_t mark,
                      std::uint16_t* out) noexcept {
  return intervals_any(at, n, shift, margin, mark, out);
}
constexpr RowFunctions plain{linear_plain, ratios_plain, intervals_plain};

#if defined(__x86_64__)
#define SIDESTREAM_AVX2 [[gnu::target("avx2,fma")]]
#define SIDESTREAM_AVX512 [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")]]
SIDESTREAM_AVX2 Index linear_256(const double* v, Index n, const Scale& s, std::int32_t* out) noexcept {
  return linear_any(v, n, s, out);
}
SIDESTREAM_AVX2 Index ratios_256(const double* v, Index n, const Scale& s, std::int32_t* out) noexcept {
  return ratios_any(v, n, s, out);
}
SIDESTREAM_AVX2 Index intervals_256(const std::int32_t* at, Index n, int shift, std::int32_t margin, std::uint16_t mark,
                                    std::uint16_t* out) noexcept {
  return intervals_any(at, n, shift, margin, mark, out);
}
SIDESTREAM_AVX512 Index linear_512(const double* v, Index n, const Scale& s, std::int32_t* out) noexcept {
  return linear_any(v, n, s, out);
}
SIDESTREAM_AVX512 Index ratios_512(const double* v, Index n, const Scale& s, std::int32_t* out) noexcept {
  return ratios_any(v, n, s, out);
}
SIDESTREAM_AVX512 Index intervals_512(const std::int32_t* at, Index n, int shift, std::int32_t margin,
                                      std::uint16_t mark, std::uint16_t* out) noexcept {
  return intervals_any(at, n, shift, margin, mark, out);
}
RowFunctions choose() noexcept {
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (wide) return {linear_512, ratios_512, intervals_512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {linear_256, ratios_256, intervals_256};
  return plain;
}
#else
RowFunctions choose() noexcept { return plain; }
#endif

const RowFunctions& chosen() noexcept {
  static const RowFunctions functions = choose();
  return functions;
}

}  // namespace

BinGuess::BinGuess(const Bins& bins) {
  const bool logarithmic = bins.by_ratio();
  rule_.logarithmic = logarithmic;
  const std::vector<double>& edges = bins.edges();
  const std::size_t count = edges.size() - 1;
  if (count > 60000) return;
  const int shift = 30 - static_cast<int>(std::bit_width(count + 2));
  const double low = logarithmic ? std::log2(edges.front()) : edges.front();
  const double high = logarithmic ? std::log2(edges.back()) : edges.back();
  const double by_interval = static_cast<double>(count) / (high - low);
  // Error in intervals: of the logarithm, of edges and differences, of the place.
  double error = 0x1p-50 * (std::max(std::fabs(low), std::fabs(high)) * by_interval + static_cast<double>(count));
  if (logarithmic) {
    const double rounding = 4 * 0x1p-24 * (std::max(std::fabs(low), std::fabs(high)) + 1);
    error += (rough_logarithm::error + rounding) * by_interval + 0x1p-22 * static_cast<double>(count);
  }
  const double unit = std::ldexp(1.0, shift), margin = 2 + std::ceil(error * unit);
  rule_.scale = {low,
                 by_interval * unit,
                 -0.5 * unit,
                 (static_cast<double>(count) + 0.5) * unit,
                 edges.front() * std::exp2(-0.5 / by_interval),
                 edges.back() * std::exp2(0.5 / by_interval)};
  // Logarithms are computed in single precision.
  if (logarithmic && !(edges.front() > 1e-37 && edges.back() < 1e37)) return;
  if (!(margin * 8 < unit) || !std::isfinite(rule_.scale.factor) || !(rule_.scale.factor > 0)) return;
  rule_.margin = static_cast<std::int32_t>(margin);
  rule_.unsure = static_cast<std::uint16_t>(count + 2);
  rule_.shift = shift;
}

BinGuess::Found BinGuess::run(const double* values, Index n, std::uint16_t* places) const noexcept {
  std::array<std::int32_t, static_cast<std::size_t>(most)> at;  // NOLINT: all that is read is written before
  Found found;
  found.none = (rule_.logarithmic ? chosen().ratios : chosen().linear)(values, n, rule_.scale, at.data());
  found.unsure = chosen().intervals(at.data(), n, rule_.shift, rule_.margin, rule_.unsure, places);
  return found;
}

}  // namespace sidestream
