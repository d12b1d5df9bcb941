// What the configuration says of Lyman-alpha.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/spectra/lyman_alpha/optical_depth.hpp"
#include "analysis/spectra/spectrum_options.hpp"

namespace sidestream::lyman_alpha {

/// Lines of sight that are written.
struct LineOutput {
  std::string file;
  Index every = 1;  ///< along both axes across
  bool depth = true, flux = true;
  Pieces pieces = Pieces::automatic;
};

/// All that the configuration says. Values of variables times their units are in the units of OpticalDepth, lengths of
/// the mesh times theirs comoving Mpc/h.
struct Query {
  std::int32_t hydrogen = -1, temperature = -1, velocity = -1;  ///< variables; of no velocity -1
  bool vector = false;                                          ///< the velocity has a component for each axis
  std::vector<int> axes{};                                      ///< along which lines run
  Cosmology cosmology{};
  enum class Time { nothing, redshift, scale_factor } time = Time::nothing;           ///< what an iteration's time is
  double density_unit = 1, temperature_unit = 1, velocity_unit = 1, length_unit = 1;  ///< cm^-3, K, cm/s, Mpc/h
  std::optional<double> mean_flux{};  ///< that depths are scaled to, axis by axis; none: as they are
  int flux_bins = 50;
  spectra::BinChoice bins{};
  spectra::FieldSetup setup{};  ///< its order is set for each axis
  std::optional<LineOutput> lines{};
  std::optional<ChartFile> pdf_chart{}, spectrum_chart{}, field_chart{};
  std::string file{}, pdf_file{}, spectrum_file{}, field_spectrum_file{};

  /// At the time of an iteration. Throws Error(analysis) if that is no redshift or scale factor.
  [[nodiscard]] Cosmology cosmology_at(double when) const;
  [[nodiscard]] int velocity_component(int axis) const noexcept { return vector ? axis : 0; }
};

/// The options of the analysis `lyman_alpha`, and what they say. Throws Error(configuration), also where the mesh or
/// the variables are none that it takes.
[[nodiscard]] std::vector<Option> query_options();
[[nodiscard]] Query read_query(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream::lyman_alpha
