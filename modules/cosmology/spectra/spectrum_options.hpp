// Options of spectra, and the means of fields.
#pragma once

#include <optional>
#include <vector>

#include "cosmology/spectra/field_spectrum.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/analysis/chart.hpp"

namespace sidestream::spectra {

/// The options of a spectrum's chart, named `image` or otherwise, and the text of that option.
[[nodiscard]] OptionTable<ChartFile> spectrum_chart_options();
[[nodiscard]] std::string spectrum_chart_text(const std::string& what);
/// Relative tolerance of sums for such plans; 0 if plans do not depend on measurements.
[[nodiscard]] double tolerance_of(Rigour rigour) noexcept;

/// The configured bins and plans: the options `bins`, `edges` and `plan` of all spectra.
struct BinChoice {
  Rigour rigour = Rigour::estimate;
  bool widening = false;
  std::vector<double> edges{};  ///< wave numbers; empty: by name
  [[nodiscard]] WaveBins bins(const WaveBox& box) const;
};
[[nodiscard]] OptionTable<BinChoice> bin_options();

/// Throws Error(configuration) unless the variable lies in the cells of a uniform mesh of one level and, where a
/// Fourier transform is needed, this build has one. `what` begins the message: "a power spectrum".
void require_uniform_cells(const Settings& settings, const std::string& option, const Variable& variable,
                           const Metadata& metadata, const std::string& what);
void require_fourier(const Settings& settings, const std::string& option);
[[nodiscard]] WaveBox wave_box(const Mesh& mesh);
/// Throws Error(configuration) for an axis, 0, 1, 2 for x, y, z, that the mesh lacks, or that is named twice.
void require_axes(const Settings& settings, const std::string& option, const std::vector<int>& axes, const Mesh& mesh);
/// The option `along`.
template <class Owner>
[[nodiscard]] OptionField<Owner> along_option(std::vector<int> Owner::*axes, const std::string& text) {
  return option<OptionType::choice>("along", axes, text, {.choices = {{"x", 0}, {"y", 1}, {"z", 2}}});
}

/// Sums of a first pass, known to all servers: the number of points, the number of points that were not delivered, and
/// the sum of each field. Sums are taken line by line, so that they do not depend on how the mesh is divided.
class FieldMeans {
 public:
  struct Field {
    std::size_t entry = 0;  ///< entry of the selection: pencils or slabs
    int component = 0;
    std::int32_t variable = -1;
  };
  /// Sums lines along `axis`, which must be whole in pieces.
  FieldMeans(std::vector<Field> fields, int axis) : fields_(std::move(fields)), axis_(axis) {}

  [[nodiscard]] Bytes local(const LocalInput& input) const;
  /// Collective; the same on all servers.
  [[nodiscard]] Bytes combine(const CombineInput& input) const;

  struct Found {
    Index points = 0;
    std::vector<double> means{};
  };
  /// Decodes the result of `combine`. Throws Error(analysis) if only some points were delivered; `points` is 0 if none
  /// was.
  [[nodiscard]] Found found(BytesView feedback, const Metadata& metadata) const;

 private:
  std::vector<Field> fields_;
  int axis_;
};

}  // namespace sidestream::spectra
