// Profiles of halos: sums in shells around each of them, and radii of given overdensities.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// A component of a variable, whose mass-weighted mean in each shell is requested.
struct ProfileField {
  std::int32_t variable = -1;
  int component = 0;
  std::string name;  ///< name of its column
};

/// Properties of the requested profiles. Lengths are in the mesh's units.
struct ProfileQuery {
  enum class About { peak, mass_centre, centre };

  std::string file;
  Pieces pieces = Pieces::automatic;
  bool sphere = true;         ///< true: all cells within the radius; false: only the halo's
  About about = About::peak;  ///< centre of the shells
  std::vector<double> edges;  ///< radii of the shells' edges, ascending; a shell includes its lower edge
  std::vector<ProfileField> fields;
  std::vector<double> overdensities;
  std::optional<double> reference;  ///< density of overdensity 1; none: the mean

  [[nodiscard]] std::size_t shells() const noexcept { return edges.size() - 1; }
  [[nodiscard]] bool needs_mean() const noexcept { return !overdensities.empty() && !reference; }
  /// Offset of the profile's centre from the peak, by the centroids: `weighted` by the mass, and `plain`.
  [[nodiscard]] std::array<double, 3> offset_of(const std::array<double, 3>& weighted,
                                                const std::array<double, 3>& plain) const noexcept;
};

/// The options of `profile`. `density`: the variable in which halos are found; `shortest`: length of a cell's shortest
/// side.
[[nodiscard]] OptionTable<ProfileQuery> profile_options(const Variable& density, double shortest);

/// Units of the sums of shells.
struct ShellUnits {
  int dimensions = 3;
  double volume = 1;    ///< volume of a cell, or the unit of cells' volumes
  bool levels = false;  ///< true if cells have different volumes
};

/// Columns that profiles add to the table of halos, with a number for each of this server's halos.
struct VirialColumns {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
};

/// Adds up partials, each halo's on the server that has it, and writes the table. Collective. `mine`: linear indices of
/// the peaks of this server's halos, which the table contains except on levels; `first`: number of the first of these
/// halos. `mean`: of the field, if overdensities refer to it; else any number. Throws the same error on all servers.
[[nodiscard]] VirialColumns write_profiles(const ProfileQuery& query, const ShellUnits& units,
                                           std::vector<Bytes> partials, const std::vector<Index>& mine,
                                           std::int64_t first, double mean, const CombineInput& input);

}  // namespace sidestream::halos
