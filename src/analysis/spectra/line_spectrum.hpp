// Spectra of single lines, averaged.
#pragma once

#include "analysis/spectra/spectrum_sums.hpp"

namespace sidestream::spectra {

/// A box of one axis, as lines along it see it.
[[nodiscard]] WaveBox line_box(const WaveBox& box, int axis);

/// Transforms lines along one axis and adds their modes up.
class LineSpectrum {
 public:
  LineSpectrum(const WaveBox& line, const WaveBins& bins, bool pair, Rigour rigour);
  /// A line of numbers, and one of a second variable, or null. Both stay as they are.
  void add(const double* first, const double* second = nullptr);
  [[nodiscard]] SpectrumSums& sums() noexcept { return sums_; }

 private:
  RealLine line_;
  SpectrumSums sums_;
  std::vector<double> squares_, first_, second_, cross_;
  std::vector<Complex> kept_;
};

}  // namespace sidestream::spectra
