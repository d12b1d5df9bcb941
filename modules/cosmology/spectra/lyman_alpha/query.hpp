// Options of the analysis `lyman_alpha`.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cosmology/spectra/lyman_alpha/optical_depth.hpp"
#include "cosmology/spectra/spectrum_options.hpp"

namespace sidestream::lyman_alpha {

/// Output of lines of sight.
struct LineOutput {
  std::string file;
  Index every = 1;                    ///< along both transverse axes
  std::vector<std::string> values{};  ///< `depth` and `flux`; empty: both
  Pieces pieces = Pieces::automatic;
  [[nodiscard]] bool has(const std::string& value) const {
    return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
  }
};

/// All options. Values of variables times their units are in the units of OpticalDepth; lengths of the mesh times their
/// unit are comoving Mpc/h.
struct Query {
  Variable hydrogen{}, temperature{};
  std::optional<Variable> velocity{};
  bool vector = false;                  ///< the velocity has a component for each axis
  std::vector<int> axes{};              ///< axes along which lines run
  std::optional<std::int32_t> level{};  ///< of a refined mesh (on_level.hpp)
  std::optional<double> redshift{};     ///< of all iterations
  Cosmology cosmology{};
  enum class Time { nothing, redshift, scale_factor } time = Time::nothing;  ///< meaning of an iteration's time
  double density_unit = 1, temperature_unit = 1, velocity_unit = 1, length_unit = 1;  ///< cm^-3, K, cm/s, Mpc/h
  std::optional<double> mean_flux{};  ///< mean flux that scales the depths, axis by axis; none: unscaled
  int flux_bins = 50;
  spectra::BinChoice bins{};
  spectra::FieldSetup setup{};  ///< its order is set for each axis
  std::optional<LineOutput> lines{};
  std::optional<ChartFile> pdf_chart{}, spectrum_chart{}, field_chart{};
  std::string file{}, pdf_file{}, spectrum_file{}, field_spectrum_file{};

  /// Parameters at the time of an iteration. Throws Error(analysis) if that is not a redshift or scale factor.
  [[nodiscard]] Cosmology cosmology_at(double when) const;
  [[nodiscard]] int velocity_component(int axis) const noexcept { return vector ? axis : 0; }
};

/// The options of the analysis `lyman_alpha`, and their values. Throws Error(configuration), also if the mesh or the
/// variables are not supported.
[[nodiscard]] OptionTable<Query> query_options();
[[nodiscard]] Query read_query(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream::lyman_alpha
