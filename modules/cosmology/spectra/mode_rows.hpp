// Vectorised operations on whole lines of modes that every processor rounds alike.
#pragma once

#include "cosmology/spectra/line_transform.hpp"

namespace sidestream::spectra {

/// out[n], n = 0 ... points / 2: the sum of Re X Y* over the modes n and -n of a line, which are the same for n = 0 and
/// n = points / 2. `room`: a buffer of `points` numbers.
void mode_products(const Complex* x, const Complex* y, Index points, double* room, double* out) noexcept;

/// sums[n] = squares[n] + offset; roots[n] = the root of that.
void wave_numbers(const double* squares, double offset, Index count, double* sums, double* roots) noexcept;

/// out[n] = a[n] * b[n].
void row_products(const double* a, const double* b, Index count, double* out) noexcept;

}  // namespace sidestream::spectra
