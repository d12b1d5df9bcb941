#include "cosmology/spectra/line_transform.hpp"

#include <cmath>

namespace sidestream::spectra {
namespace {

struct RowFunctions {
  void (*modes)(const double*, const double*, Index, double*, double*) noexcept;
  void (*waves)(const double*, double, Index, double*, double*) noexcept;
  void (*products)(const double*, const double*, Index, double*) noexcept;
};

[[gnu::always_inline]] inline void modes_any(const double* x, const double* y, Index points, double* __restrict buffer,
                                             double* __restrict out) noexcept {
  for (Index n = 0; n < points; ++n) buffer[n] = x[2 * n] * y[2 * n] + x[2 * n + 1] * y[2 * n + 1];
  out[0] = buffer[0];
  const Index pairs = (points - 1) / 2;
  for (Index n = 1; n <= pairs; ++n) out[n] = buffer[n] + buffer[points - n];
  if (points % 2 == 0) out[points / 2] = buffer[points / 2];
}

[[gnu::always_inline]] inline void waves_any(const double* squares, double offset, Index count, double* __restrict sums,
                                             double* __restrict roots) noexcept {
  for (Index n = 0; n < count; ++n) {
    sums[n] = squares[n] + offset;
    roots[n] = std::sqrt(squares[n] + offset);
  }
}

[[gnu::always_inline]] inline void products_any(const double* a, const double* b, Index count,
                                                double* __restrict out) noexcept {
  for (Index n = 0; n < count; ++n) out[n] = a[n] * b[n];
}

void modes_plain(const double* x, const double* y, Index n, double* buffer, double* out) noexcept {
  modes_any(x, y, n, buffer, out);
}
void waves_plain(const double* s, double offset, Index n, double* sums, double* roots) noexcept {
  waves_any(s, offset, n, sums, roots);
}
void products_plain(const double* a, const double* b, Index n, double* out) noexcept { products_any(a, b, n, out); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void modes_256(const double* x, const double* y, Index n, double* buffer,
                                       double* out) noexcept {
  modes_any(x, y, n, buffer, out);
}
[[gnu::target("avx2")]] void waves_256(const double* s, double offset, Index n, double* sums, double* roots) noexcept {
  waves_any(s, offset, n, sums, roots);
}
[[gnu::target("avx2")]] void products_256(const double* a, const double* b, Index n, double* out) noexcept {
  products_any(a, b, n, out);
}
RowFunctions choose() noexcept {
  if (__builtin_cpu_supports("avx2")) return {modes_256, waves_256, products_256};
  return {modes_plain, waves_plain, products_plain};
}
#else
RowFunctions choose() noexcept { return {modes_plain, waves_plain, products_plain}; }
#endif

const RowFunctions& chosen() noexcept {
  static const RowFunctions functions = choose();
  return functions;
}

}  // namespace

void mode_products(const Complex* x, const Complex* y, Index points, double* buffer, double* out) noexcept {
  // A complex number is its real part followed by its imaginary part.
  chosen().modes(reinterpret_cast<const double*>(x), reinterpret_cast<const double*>(y), points, buffer, out);
}
void wave_numbers(const double* squares, double offset, Index count, double* sums, double* roots) noexcept {
  chosen().waves(squares, offset, count, sums, roots);
}
void row_products(const double* a, const double* b, Index count, double* out) noexcept {
  chosen().products(a, b, count, out);
}

}  // namespace sidestream::spectra
