// Options of spectra, and the numbers that a field is centred with.
#pragma once

#include <optional>
#include <vector>

#include "analysis/common/chart.hpp"
#include "analysis/spectra/field_spectrum.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream::spectra {

/// `bins`, `edges`, `plan`: those that all spectra have.
[[nodiscard]] std::vector<Option> bin_options();
[[nodiscard]] Option plan_option();
[[nodiscard]] Rigour read_plan(const Settings& settings);
/// The option `image` of a spectrum, or another name.
[[nodiscard]] Option spectrum_chart_option(const std::string& name, const std::string& what);
/// 0 where plans do not depend on what was measured.
[[nodiscard]] double tolerance_of(Rigour rigour) noexcept;

/// The bins that the configuration asks for.
struct BinChoice {
  bool widening = false;
  std::vector<double> edges{};  ///< wave numbers; empty: by name
  [[nodiscard]] WaveBins bins(const WaveBox& box) const;
};
[[nodiscard]] BinChoice read_bins(const Settings& settings);

/// Throws Error(configuration) unless the variable lies in the cells of a uniform mesh of one level and, where a
/// Fourier transform is asked for, this build has one. `what` begins the sentence: "a power spectrum".
void require_uniform_cells(const Settings& settings, const std::string& option, const Variable& variable,
                           const Metadata& metadata, const std::string& what);
void require_fourier(const Settings& settings, const std::string& option);
[[nodiscard]] WaveBox wave_box(const Mesh& mesh);
/// `along` and the like: 0, 1, 2 of x, y, z. Throws Error(configuration) for one that the mesh does not have.
[[nodiscard]] std::vector<int> read_axes(const Settings& settings, const std::string& option, const Mesh& mesh);

/// What all servers learn of pieces in a first pass: how many points there are, how many of them nobody delivered, and
/// the sum of each field, line by line, so that it is the same however the mesh is divided.
class FieldMeans {
 public:
  struct Field {
    std::size_t entry = 0;  ///< of the selection: pencils or slabs
    int component = 0;
    std::int32_t variable = -1;
  };
  /// Lines along `axis`, which pieces have whole.
  FieldMeans(std::vector<Field> fields, int axis) : fields_(std::move(fields)), axis_(axis) {}

  [[nodiscard]] Bytes local(const LocalInput& input) const;
  /// Collective; the same on all servers.
  [[nodiscard]] Bytes combine(const CombineInput& input) const;

  struct Found {
    Index points = 0;
    std::vector<double> means{};
  };
  /// What `combine` returned. Throws Error(analysis) if some points were not delivered; no points if none was.
  [[nodiscard]] Found found(BytesView feedback, const Metadata& metadata) const;

 private:
  std::vector<Field> fields_;
  int axis_;
};

}  // namespace sidestream::spectra
