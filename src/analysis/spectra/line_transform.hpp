// Fourier transforms of single lines, each by the same instructions wherever the line came from.
#pragma once

#include <complex>
#include <memory>
#include <string>

#include "sidestream/data/box.hpp"

namespace sidestream::spectra {

using Complex = std::complex<double>;

/// How hard FFTW looks for a fast way. `estimate` looks at nothing but the length: on machines of one kind it is the
/// same way in every process and run, and so are the results, bit by bit. The others measure, and may differ.
enum class Rigour { estimate, measure, patient };

/// Whether this build has FFTW; without it the constructors below throw Error(analysis).
[[nodiscard]] bool has_fourier() noexcept;

/// The plan and the room of a kind of transform; FFTW's, kept out of headers.
struct TransformPlan;

/// X_k = sum over j of x_j exp(-2 pi i j k / n), k = 0 ... n / 2, of real numbers; the other half is the conjugate.
class RealLine {
 public:
  RealLine(Index n, Rigour rigour);
  ~RealLine();
  RealLine(RealLine&&) noexcept;
  RealLine& operator=(RealLine&&) noexcept;

  [[nodiscard]] Index size() const noexcept { return n_; }
  /// Room for n numbers, which `transform` may change.
  [[nodiscard]] double* input() noexcept;
  /// The n / 2 + 1 results, until the next call.
  [[nodiscard]] const Complex* transform() noexcept;
  /// The same of numbers elsewhere, which it may change, to elsewhere; both places are multiples of 16 bytes.
  void transform(double* from, Complex* to) noexcept;

 private:
  Index n_;
  std::unique_ptr<TransformPlan> plan_;
};

/// The same of complex numbers, k = 0 ... n - 1, of several lines, which are transformed one by one.
class ComplexLines {
 public:
  static constexpr Index together = 8;  ///< lines: columns of an array are read in pieces of two lines of cache

  ComplexLines(Index n, Rigour rigour);
  ~ComplexLines();
  ComplexLines(ComplexLines&&) noexcept;
  ComplexLines& operator=(ComplexLines&&) noexcept;

  [[nodiscard]] Index size() const noexcept { return n_; }
  /// Room for the n numbers of line 0, which `transform` changes; those of others are `row` numbers further each.
  [[nodiscard]] Complex* lines() noexcept { return from_; }
  /// Likewise what `transform` made of them.
  [[nodiscard]] const Complex* results() const noexcept { return to_; }
  [[nodiscard]] Index row() const noexcept { return row_; }
  /// Transforms the first `lines` of them.
  void transform(Index lines) noexcept;

 private:
  Index n_, row_ = 0;
  Complex *from_ = nullptr, *to_ = nullptr;  ///< of the plan's room
  std::unique_ptr<TransformPlan> plan_;
};

}  // namespace sidestream::spectra
