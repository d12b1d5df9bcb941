// The two tasks behind the analysis `power_spectrum`.
#pragma once

#include <memory>
#include <string>

#include "analysis/spectra/spectrum_options.hpp"

namespace sidestream::spectra {

/// What the configuration says.
struct SpectrumQuery {
  std::vector<FieldMeans::Field> fields{};  ///< one, or two for their product
  std::vector<int> along{};                 ///< axes of spectra of single lines; empty: of the whole field
  BinChoice bins{};
  bool contrast = true;  ///< x / mean - 1 instead of x - mean
  double noise = 0;
  FieldSetup setup{};
  std::string file{};
  std::optional<ChartFile> chart{};
};

/// Of the whole field.
[[nodiscard]] std::unique_ptr<Task> make_field_spectrum(const SpectrumQuery& query, const Metadata& metadata);
/// Of lines along axes, averaged over all of them.
[[nodiscard]] std::unique_ptr<Task> make_line_spectrum(const SpectrumQuery& query, const Metadata& metadata);

/// Orders the chart of the table, if there is to be one.
void draw_spectrum(const SpectrumQuery& query, const CombineInput& input);

/// Throws Error(analysis) if contrasts are asked of a field whose mean is 0.
void require_means(const SpectrumQuery& query, const FieldMeans::Found& found, const Metadata& metadata);
/// Of |X|^2 of lines or fields, with the means divided out.
[[nodiscard]] SpectrumSums::Scale scale_of(const SpectrumQuery& query, const WaveBox& box,
                                           const std::vector<double>& means);

}  // namespace sidestream::spectra
