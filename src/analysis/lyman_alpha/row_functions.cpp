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

using Transmit = void (*)(const double*, double, Index, double*) noexcept;
using Edges = void (*)(double, const double*, const double*, double*) noexcept;

void transmit_plain(const double* v, double f, Index n, double* out) noexcept { transmit_any(v, f, n, out); }
void erfc_plain(double e, const double* a, const double* s, double* out) noexcept { erfc_any(e, a, s, out); }

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
bool wide() noexcept { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }
Transmit choose_transmit() noexcept {
  return wide() ? transmit_512 : __builtin_cpu_supports("avx2") ? transmit_256 : transmit_plain;
}
Edges choose_edges() noexcept { return wide() ? erfc_512 : __builtin_cpu_supports("avx2") ? erfc_256 : erfc_plain; }
#else
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

}  // namespace sidestream::lyman_alpha
