// Spectra of single lines, averaged.
#pragma once

#include "cosmology/spectra/spectrum_sums.hpp"

namespace sidestream::spectra {

/// One-dimensional box of lines along an axis.
[[nodiscard]] WaveBox line_box(const WaveBox& box, int axis);

/// Transforms lines along one axis and adds up their modes.
class LineSpectrum {
 public:
  LineSpectrum(const WaveBox& line, const WaveBins& bins, bool pair, Rigour rigour);
  /// Adds a line of numbers, and one of a second variable, or null. Does not change them.
  void add(const double* first, const double* second = nullptr);
  [[nodiscard]] SpectrumSums& sums() noexcept { return sums_; }

 private:
  RealLine line_;
  SpectrumSums sums_;
  std::vector<double> squares_, first_, second_, cross_;
  std::vector<Complex> kept_;
};

}  // namespace sidestream::spectra
