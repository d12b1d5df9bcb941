// Fourier transforms of single lines, and operations on lines of modes. Each line goes through the same instructions,
// wherever it comes from.
#pragma once

#include <complex>
#include <memory>
#include <string>

#include "sidestream/data/box.hpp"

namespace sidestream::spectra {

using Complex = std::complex<double>;

/// Effort that FFTW spends on finding a fast plan. `estimate` depends only on the length: on machines of one kind it
/// gives the same plan, and so the same bits, in every process and run. The others measure, and may differ.
enum class Rigour { estimate, measure, patient };

/// True if this build has FFTW; without it the constructors below throw Error(analysis).
[[nodiscard]] bool has_fourier() noexcept;

/// Plan and buffers of a kind of transform; keeps FFTW out of headers.
struct TransformPlan;

/// Transform of real numbers: X_k = sum over j of x_j exp(-2 pi i j k / n), k = 0 ... n / 2; the other half is the
/// conjugate.
class RealLine {
 public:
  RealLine(Index n, Rigour rigour);
  ~RealLine();
  RealLine(RealLine&&) noexcept;
  RealLine& operator=(RealLine&&) noexcept;

  [[nodiscard]] Index size() const noexcept { return n_; }
  /// Buffer for n numbers, which `transform` may change.
  [[nodiscard]] double* input() noexcept;
  /// The n / 2 + 1 results, valid until the next call.
  [[nodiscard]] const Complex* transform() noexcept;
  /// Transforms numbers at another address, which it may change; both addresses must be multiples of 16 bytes.
  void transform(double* from, Complex* to) noexcept;

 private:
  Index n_;
  std::unique_ptr<TransformPlan> plan_;
};

/// Transforms of complex numbers, k = 0 ... n - 1, for several lines, one by one.
class ComplexLines {
 public:
  static constexpr Index together = 8;  ///< lines; columns of an array are read in pieces of two cache lines

  ComplexLines(Index n, Rigour rigour);
  ~ComplexLines();
  ComplexLines(ComplexLines&&) noexcept;
  ComplexLines& operator=(ComplexLines&&) noexcept;

  [[nodiscard]] Index size() const noexcept { return n_; }
  /// Buffer for the n numbers of line 0, which `transform` changes; each further line begins `row` numbers later.
  [[nodiscard]] Complex* lines() noexcept { return from_; }
  /// Results, in the same layout.
  [[nodiscard]] const Complex* results() const noexcept { return to_; }
  [[nodiscard]] Index row() const noexcept { return row_; }
  /// Transforms the first `lines` lines.
  void transform(Index lines) noexcept;

 private:
  Index n_, row_ = 0;
  Complex *from_ = nullptr, *to_ = nullptr;  ///< in the plan's buffers
  std::unique_ptr<TransformPlan> plan_;
};

// Vectorised operations on whole lines of modes that every processor rounds alike (mode_rows.cpp).

/// out[n], n = 0 ... points / 2: the sum of Re X Y* over the modes n and -n of a line, which are the same for n = 0 and
/// n = points / 2. `buffer`: a buffer of `points` numbers.
void mode_products(const Complex* x, const Complex* y, Index points, double* buffer, double* out) noexcept;

/// sums[n] = squares[n] + offset; roots[n] = the root of that.
void wave_numbers(const double* squares, double offset, Index count, double* sums, double* roots) noexcept;

/// out[n] = a[n] * b[n].
void row_products(const double* a, const double* b, Index count, double* out) noexcept;

}  // namespace sidestream::spectra
