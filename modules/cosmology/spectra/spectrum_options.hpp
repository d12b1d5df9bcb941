// Options of spectra, and the means of fields.
#pragma once

#include <optional>
#include <vector>

#include "cosmology/spectra/field_spectrum.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/analysis/chart.hpp"

namespace sidestream::spectra {

/// Options of all spectra: `bins`, `edges`, `plan`.
[[nodiscard]] std::vector<Option> bin_options();
[[nodiscard]] Option plan_option();
[[nodiscard]] Rigour read_plan(const Settings& settings);
/// The option for a spectrum's chart, named `image` or otherwise.
[[nodiscard]] Option spectrum_chart_option(const std::string& name, const std::string& what);
/// Relative tolerance of sums for such plans; 0 if plans do not depend on measurements.
[[nodiscard]] double tolerance_of(Rigour rigour) noexcept;

/// The configured bins.
struct BinChoice {
  bool widening = false;
  std::vector<double> edges{};  ///< wave numbers; empty: by name
  [[nodiscard]] WaveBins bins(const WaveBox& box) const;
};
[[nodiscard]] BinChoice read_bins(const Settings& settings);

/// Throws Error(configuration) unless the variable lies in the cells of a uniform mesh of one level and, where a
/// Fourier transform is needed, this build has one. `what` begins the message: "a power spectrum".
void require_uniform_cells(const Settings& settings, const std::string& option, const Variable& variable,
                           const Metadata& metadata, const std::string& what);
void require_fourier(const Settings& settings, const std::string& option);
[[nodiscard]] WaveBox wave_box(const Mesh& mesh);
/// Reads `along` and similar options: 0, 1, 2 for x, y, z. Throws Error(configuration) for an axis that the mesh lacks.
[[nodiscard]] std::vector<int> read_axes(const Settings& settings, const std::string& option, const Mesh& mesh);

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
