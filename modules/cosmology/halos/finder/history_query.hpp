// Options of halo histories.
#pragma once

#include <optional>
#include <string>

#include "cosmology/halos/finder/mass_function.hpp"
#include "cosmology/halos/finder/particles.hpp"

namespace sidestream::halos {

struct HistoryQuery {
  std::string file;
  std::optional<ChartFile> chart;
  int drawn = 24;                          ///< most tracks in the chart
  std::optional<ParticleQuery> particles;  ///< particles by which halos are matched; none: by cells
};

/// The option `history`, and its value, if given. Throws Error(configuration).
[[nodiscard]] Option history_option();
[[nodiscard]] std::optional<HistoryQuery> read_history(const Settings& settings, const Metadata& metadata,
                                                       const Variable& density);

}  // namespace sidestream::halos
