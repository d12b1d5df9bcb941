// The two tasks of the analysis `power_spectrum`.
#pragma once

#include <memory>
#include <string>

#include "cosmology/spectra/spectrum_options.hpp"

namespace sidestream::spectra {

/// Options.
struct SpectrumQuery {
  Variable variable{};
  std::optional<Variable> with{};  ///< a second field
  int component = 0;
  std::optional<int> with_component{};
  std::optional<std::int32_t> level{};  ///< of a refined mesh (on_level.hpp)
  int window = 0;                       ///< power of the window that is divided out
  bool slabs = false;
  std::vector<FieldMeans::Field> fields{};  ///< one field, or two for their product
  std::vector<int> along{};                 ///< axes of spectra of single lines; empty: of the whole field
  BinChoice bins{};
  bool contrast = true;  ///< true: x / mean - 1; false: x - mean
  double noise = 0;
  FieldSetup setup{};
  std::string file{};
  std::optional<ChartFile> chart{};
};

/// The options of all spectra of whole fields: bins, plans, the table, and its chart.
[[nodiscard]] OptionTable<SpectrumQuery> spectrum_options(const std::string& file);

/// Spectrum of the whole field.
[[nodiscard]] std::unique_ptr<Task> make_field_spectrum(const SpectrumQuery& query, const Metadata& metadata);
/// Spectra of lines along axes, averaged over all lines.
[[nodiscard]] std::unique_ptr<Task> make_line_spectrum(const SpectrumQuery& query, const Metadata& metadata);

/// Requests the chart of the table, if configured.
void draw_spectrum(const SpectrumQuery& query, const CombineInput& input);

/// Throws Error(analysis) if the contrast of a field with mean 0 is requested.
void require_means(const SpectrumQuery& query, const FieldMeans::Found& found, const Metadata& metadata);
/// Scale of |X|^2 for lines or fields, with the means divided out.
[[nodiscard]] SpectrumSums::Scale scale_of(const SpectrumQuery& query, const WaveBox& box,
                                           const std::vector<double>& means);

}  // namespace sidestream::spectra
