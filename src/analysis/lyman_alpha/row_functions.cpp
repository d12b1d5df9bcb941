#include "analysis/lyman_alpha/row_functions.hpp"

namespace sidestream::lyman_alpha {
namespace {

[[gnu::always_inline]] inline void transmit_any(const double* values, double factor, Index count,
                                                double* out) noexcept {
  for (Index n = 0; n < count; ++n) out[n] = exp_of_minus(factor * values[n]);
}

[[gnu::always_inline]] inline void erfc_any(double edge, const double* at, const double* scale, double* out) noexcept {
  for (Index l = 0; l < lanes; ++l) out[l] = erfc_of(std::fabs((edge - at[l]) * scale[l]));
}

[[gnu::always_inline]] inline void steps_any(Index reach, const double* at, const double* scale, const double* strength,
                                             double* out) noexcept {
  double before[lanes] = {}, now[lanes];
  // Left of the centre erf is erfc(|x|) - 1, right of it 1 - erfc(x); edges 0 and 1 may be on either side.
  for (Index e = -reach; e < 0; ++e, out += lanes) {
    erfc_any(static_cast<double>(e) + 0.5, at, scale, now);
    for (Index l = 0; l < lanes; ++l) out[l] = strength[l] * (now[l] - before[l]);
    for (Index l = 0; l < lanes; ++l) before[l] = now[l];
  }
  erfc_any(0.5, at, scale, now);
  double next[lanes];
  erfc_any(1.5, at, scale, next);
  for (Index l = 0; l < lanes; ++l) {
    const bool right = at[l] <= 0.5;
    out[l] = strength[l] * (right ? 2 - now[l] - before[l] : now[l] - before[l]);
    out[lanes + l] = strength[l] * (right ? now[l] - next[l] : 2 - next[l] - now[l]);
    before[l] = next[l];
  }
  out += 2 * lanes;
  for (Index e = 2; e <= reach; ++e, out += lanes) {
    erfc_any(static_cast<double>(e) + 0.5, at, scale, now);
    for (Index l = 0; l < lanes; ++l) out[l] = strength[l] * (before[l] - now[l]);
    for (Index l = 0; l < lanes; ++l) before[l] = now[l];
  }
  for (Index l = 0; l < lanes; ++l) out[l] = strength[l] * before[l];
}

using Steps = void (*)(Index, const double*, const double*, const double*, double*) noexcept;
using Transmit = void (*)(const double*, double, Index, double*) noexcept;
using Edges = void (*)(double, const double*, const double*, double*) noexcept;

void transmit_plain(const double* v, double f, Index n, double* out) noexcept { transmit_any(v, f, n, out); }
void erfc_plain(double e, const double* a, const double* s, double* out) noexcept { erfc_any(e, a, s, out); }

void steps_plain(Index r, const double* a, const double* s, const double* t, double* out) noexcept {
  steps_any(r, a, s, t, out);
}

#if defined(__x86_64__)
// The same operations on more numbers at once. No multiplications and additions are fused, so that results are the same
// bits on all processors.
[[gnu::target("avx2")]] void transmit_256(const double* v, double f, Index n, double* out) noexcept {
  transmit_any(v, f, n, out);
}
[[gnu::target("avx2")]] void erfc_256(double e, const double* a, const double* s, double* out) noexcept {
  erfc_any(e, a, s, out);
}
[[gnu::target("avx512f,avx512dq,prefer-vector-width=512")]] void transmit_512(const double* v, double f, Index n,
                                                                              double* out) noexcept {
  transmit_any(v, f, n, out);
}
[[gnu::target("avx512f,avx512dq,prefer-vector-width=512")]] void erfc_512(double e, const double* a, const double* s,
                                                                          double* out) noexcept {
  erfc_any(e, a, s, out);
}
[[gnu::target("avx2")]] void steps_256(Index r, const double* a, const double* s, const double* t,
                                       double* out) noexcept {
  steps_any(r, a, s, t, out);
}
[[gnu::target("avx512f,avx512dq,prefer-vector-width=512")]] void steps_512(Index r, const double* a, const double* s,
                                                                           const double* t, double* out) noexcept {
  steps_any(r, a, s, t, out);
}
bool wide() noexcept { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }
Transmit choose_transmit() noexcept {
  return wide() ? transmit_512 : __builtin_cpu_supports("avx2") ? transmit_256 : transmit_plain;
}
Edges choose_edges() noexcept { return wide() ? erfc_512 : __builtin_cpu_supports("avx2") ? erfc_256 : erfc_plain; }
Steps choose_steps() noexcept { return wide() ? steps_512 : __builtin_cpu_supports("avx2") ? steps_256 : steps_plain; }
#else
Steps choose_steps() noexcept { return steps_plain; }
Transmit choose_transmit() noexcept { return transmit_plain; }
Edges choose_edges() noexcept { return erfc_plain; }
#endif

}  // namespace

void transmit(const double* values, double factor, Index count, double* out) noexcept {
  static const Transmit chosen = choose_transmit();
  chosen(values, factor, count, out);
}

void erfc_edges(double edge, const double* at, const double* scale, double* out) noexcept {
  static const Edges chosen = choose_edges();
  chosen(edge, at, scale, out);
}

void erf_steps(Index reach, const double* at, const double* scale, const double* strength, double* out) noexcept {
  static const Steps chosen = choose_steps();
  chosen(reach, at, scale, strength, out);
}

}  // namespace sidestream::lyman_alpha
