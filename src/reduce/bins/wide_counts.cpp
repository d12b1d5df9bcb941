// Counting with AVX-512. A count is a load and a store, one per cycle; meanwhile the processor can compute places. Both
// therefore stand next to each other in one loop, and places are known long before they are counted. A load that
// follows a store to an unknown address would wait for it, or be repeated when the addresses turn out to be equal.
// Other processors have none of this.
#include "sidestream/kit/reduce/bins/bin_guess.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <bit>

#include "sidestream/kit/reduce/bins/bins.hpp"

#define SIDESTREAM_WIDE [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")]]

namespace sidestream {

#ifdef __x86_64__

namespace {

/// Number of groups whose places are known before they are counted.
constexpr Index ahead = 8;

/// Places of 16 values, in units of 2^-shift of an interval.
struct Group {
  __m512i at;
  std::uint32_t none;  ///< a bit for each NaN
};

SIDESTREAM_WIDE [[gnu::always_inline]] inline std::uint32_t no_numbers(__m512d low, __m512d high) noexcept {
  const std::uint32_t first = _mm512_cmp_pd_mask(low, low, _CMP_UNORD_Q);
  return first | static_cast<std::uint32_t>(_mm512_cmp_pd_mask(high, high, _CMP_UNORD_Q)) << 8;
}

/// NaN becomes the least: the second operand of the maximum is returned if one is NaN.
SIDESTREAM_WIDE [[gnu::always_inline]] inline Group linear(const double* v, const BinGuess::Scale& scale) noexcept {
  const __m512d low = _mm512_loadu_pd(v), high = _mm512_loadu_pd(v + 8);
  const __m512d offset = _mm512_set1_pd(scale.offset), factor = _mm512_set1_pd(scale.factor),
                least = _mm512_set1_pd(scale.least), most = _mm512_set1_pd(scale.most);
  const __m512d a = _mm512_mul_pd(_mm512_sub_pd(low, offset), factor),
                b = _mm512_mul_pd(_mm512_sub_pd(high, offset), factor);
  const __m256i x = _mm512_cvttpd_epi32(_mm512_min_pd(_mm512_max_pd(a, least), most)),
                y = _mm512_cvttpd_epi32(_mm512_min_pd(_mm512_max_pd(b, least), most));
  return {_mm512_inserti64x4(_mm512_castsi256_si512(x), y, 1), no_numbers(low, high)};
}

SIDESTREAM_WIDE [[gnu::always_inline]] inline Group ratios(const double* v, const BinGuess::Scale& scale) noexcept {
  const __m512d low = _mm512_loadu_pd(v), high = _mm512_loadu_pd(v + 8);
  const __m512d first = _mm512_castps_pd(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)));
  const __m512 all = _mm512_castpd_ps(_mm512_insertf64x4(first, _mm256_castps_pd(_mm512_cvtpd_ps(high)), 1));
  const __m512 smallest = _mm512_set1_ps(static_cast<float>(scale.smallest)),
               greatest = _mm512_set1_ps(static_cast<float>(scale.greatest));
  const __m512 x = _mm512_min_ps(_mm512_max_ps(all, smallest), greatest);
  const __m512 rest = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  const __m512 u = _mm512_sub_ps(rest, _mm512_set1_ps(rough_logarithm::middle));
  __m512 sum = _mm512_set1_ps(rough_logarithm::first);
#pragma GCC unroll 8
  for (const float term : rough_logarithm::terms) sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(term));
  const __m512 place =
      _mm512_sub_ps(_mm512_add_ps(_mm512_getexp_ps(x), sum), _mm512_set1_ps(static_cast<float>(scale.offset)));
  const __m512 factor = _mm512_set1_ps(static_cast<float>(scale.factor));
  return {_mm512_cvttps_epi32(_mm512_mul_ps(place, factor)), no_numbers(low, high)};
}

/// Writes the places of group n to `places`.
template <Group (*guess)(const double*, const BinGuess::Scale&) noexcept>
SIDESTREAM_WIDE [[gnu::always_inline]] inline void find(const double* v, Index n, const BinGuess::Rule& rule,
                                                        std::uint16_t* places, Unsure& unsure) noexcept {
  const Group group = guess(v + n * wide_group, rule.scale);
  const __m512i beside = _mm512_add_epi32(group.at, _mm512_set1_epi32(rule.margin));
  const __mmask16 near = _mm512_cmple_epu32_mask(_mm512_and_si512(beside, _mm512_set1_epi32((1 << rule.shift) - 1)),
                                                 _mm512_set1_epi32(2 * rule.margin));
  const __m512i interval = _mm512_sra_epi32(group.at, _mm_cvtsi32_si128(rule.shift));
  const __m512i place =
      _mm512_mask_mov_epi32(_mm512_add_epi32(interval, _mm512_set1_epi32(1)), near, _mm512_set1_epi32(rule.unsure));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(places + n * wide_group), _mm512_cvtepi32_epi16(place));
  unsure.bits[static_cast<std::size_t>(n)] = near;
  if (group.none != 0) unsure.none += std::popcount(group.none);
}

[[gnu::always_inline]] inline void count(const std::uint16_t* places, std::uint32_t* rows) noexcept {
#pragma GCC unroll 16
  for (std::size_t n = 0; n < static_cast<std::size_t>(wide_group); ++n) {
    ++rows[n % CountRows::turns * CountRows::length + places[n]];
  }
}

template <Group (*guess)(const double*, const BinGuess::Scale&) noexcept>
SIDESTREAM_WIDE [[gnu::always_inline]] inline void run(const double* v, Index n, const BinGuess::Rule& given,
                                                       std::uint32_t* rows, Unsure& unsure) noexcept {
  const BinGuess::Rule rule = given;
  std::array<std::uint16_t, most_wide_counts> places;  // NOLINT: read where it was written
  unsure.none = 0;
  const Index groups = n / wide_group, first = groups < ahead ? groups : ahead;
  for (Index g = 0; g < first; ++g) find<guess>(v, g, rule, places.data(), unsure);
  Index counted = 0;
  for (Index g = first; g < groups; ++g, ++counted) {
    find<guess>(v, g, rule, places.data(), unsure);
    // Values of the next call.
    _mm_prefetch(reinterpret_cast<const char*>(v + g * wide_group + 1024), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(v + g * wide_group + 1032), _MM_HINT_T0);
    count(places.data() + counted * wide_group, rows);
  }
  for (; counted < groups; ++counted) count(places.data() + counted * wide_group, rows);
}

SIDESTREAM_WIDE void run_any(const double* values, Index n, const BinGuess::Rule& rule, std::uint32_t* rows,
                             Unsure& unsure) {
  rule.logarithmic ? run<ratios>(values, n, rule, rows, unsure) : run<linear>(values, n, rule, rows, unsure);
}

}  // namespace

WideCounts wide_counts() noexcept {
  const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return has ? run_any : nullptr;
}

#else

WideCounts wide_counts() noexcept { return nullptr; }

#endif

}  // namespace sidestream
