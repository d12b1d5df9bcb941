#include "cosmology/spectra/lyman_alpha/row_functions.hpp"

namespace sidestream::lyman_alpha {
namespace {

[[gnu::always_inline]] inline void transmit_any(const double* values, double factor, Index count,
                                                double* out) noexcept {
  for (Index n = 0; n < count; ++n) {
    const double y = factor * values[n], value = exp_of_minus(y);
    out[n] = y == y ? value : y;
  }
}

/// Steps between edges x, x + h, x + 2 h ... on one side of the centre: out[n * stride + l] = strength[l] (erfc(edge n)
/// - erfc(edge n + 1)), n < count, where the last erfc is taken as 0; erfc of edge 0 goes to `first`.
///
/// exp(-x^2) at equal steps is a product of factors exp(-(2 x h + h^2)); each factor is the previous one times exp(-2
/// h^2). The recurrence is restarted regularly, so that rounding stays below 1e-14.
[[gnu::always_inline]] inline void side_any(Index count, const double* start, const double* step,
                                            const double* strength, double* __restrict out, Index stride,
                                            double* __restrict first) noexcept {
  constexpr Index together = 16;
  double x[lanes], h[lanes], bell[lanes], ratio[lanes], fall[lanes], before[lanes];
  for (Index l = 0; l < lanes; ++l) {
    h[l] = step[l];
    fall[l] = exp_of_minus(2 * h[l] * h[l]);
    before[l] = 0;
  }
  for (Index n = 0; n < count; n += together) {
    for (Index l = 0; l < lanes; ++l) x[l] = __builtin_fma(static_cast<double>(n), h[l], start[l]);
    for (Index l = 0; l < lanes; ++l) bell[l] = exp_of_minus(x[l] * x[l]);
    for (Index l = 0; l < lanes; ++l) ratio[l] = exp_of_minus((2 * x[l] + h[l]) * h[l]);
    const Index some = count - n < together ? count - n : together;
    for (Index m = 0; m < some; ++m) {
      // The first edge begins no step.
      double* const to = n + m == 0 ? first : out + (n + m - 1) * stride;
      for (Index l = 0; l < lanes; ++l) {
        const double now = bell[l] * scaled_erfc(__builtin_fma(static_cast<double>(m), h[l], x[l]));
        to[l] = strength[l] * (before[l] - now);
        before[l] = now;
        bell[l] *= ratio[l];
        ratio[l] *= fall[l];
      }
      if (n + m == 0) {
        for (Index l = 0; l < lanes; ++l) first[l] = before[l];
      }
    }
  }
  for (Index l = 0; l < lanes; ++l) out[(count - 1) * stride + l] = strength[l] * before[l];
}

[[gnu::always_inline]] inline void steps_any(Index reach, const double* at, const double* scale, const double* strength,
                                             double* out) noexcept {
  // The edge -1/2 is left of every centre, the edge 3/2 right of it; 1/2 may be on either side.
  double start[lanes], left[lanes], right[lanes];
  for (Index l = 0; l < lanes; ++l) start[l] = (at[l] + 0.5) * scale[l];
  side_any(reach, start, scale, strength, out + (reach - 1) * lanes, -lanes, left);
  for (Index l = 0; l < lanes; ++l) start[l] = (1.5 - at[l]) * scale[l];
  side_any(reach, start, scale, strength, out + (reach + 2) * lanes, lanes, right);
  out += reach * lanes;
  for (Index l = 0; l < lanes; ++l) {
    const double x = std::fabs((0.5 - at[l]) * scale[l]), middle = exp_of_minus(x * x) * scaled_erfc(x);
    const bool after = at[l] <= 0.5;
    out[l] = strength[l] * (after ? 2 - middle - left[l] : middle - left[l]);
    out[lanes + l] = strength[l] * (after ? middle - right[l] : 2 - right[l] - middle);
  }
}

using Steps = void (*)(Index, const double*, const double*, const double*, double*) noexcept;
using Transmit = void (*)(const double*, double, Index, double*) noexcept;

void transmit_plain(const double* v, double f, Index n, double* out) noexcept { transmit_any(v, f, n, out); }
void steps_plain(Index r, const double* a, const double* s, const double* t, double* out) noexcept {
  steps_any(r, a, s, t, out);
}

#if defined(__x86_64__)
// The same operations on more numbers at once. The compiler fuses only those multiplications and additions that are
// written as fused, so results are the same bits on all processors.
[[gnu::target("avx2,fma")]] void transmit_256(const double* v, double f, Index n, double* out) noexcept {
  transmit_any(v, f, n, out);
}
[[gnu::target("avx512f,avx512dq,prefer-vector-width=512")]] void transmit_512(const double* v, double f, Index n,
                                                                              double* out) noexcept {
  transmit_any(v, f, n, out);
}
[[gnu::target("avx2,fma")]] void steps_256(Index r, const double* a, const double* s, const double* t,
                                           double* out) noexcept {
  steps_any(r, a, s, t, out);
}
[[gnu::target("avx512f,avx512dq,prefer-vector-width=512")]] void steps_512(Index r, const double* a, const double* s,
                                                                           const double* t, double* out) noexcept {
  steps_any(r, a, s, t, out);
}
bool has_avx512() noexcept { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }
bool has_avx2() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
Transmit choose_transmit() noexcept { return has_avx512() ? transmit_512 : has_avx2() ? transmit_256 : transmit_plain; }
Steps choose_steps() noexcept { return has_avx512() ? steps_512 : has_avx2() ? steps_256 : steps_plain; }
#else
Steps choose_steps() noexcept { return steps_plain; }
Transmit choose_transmit() noexcept { return transmit_plain; }
#endif

}  // namespace

void transmit(const double* values, double factor, Index count, double* out) noexcept {
  static const Transmit chosen = choose_transmit();
  chosen(values, factor, count, out);
}

void erf_steps(Index reach, const double* at, const double* scale, const double* strength, double* out) noexcept {
  static const Steps chosen = choose_steps();
  chosen(reach, at, scale, strength, out);
}

}  // namespace sidestream::lyman_alpha
