// Profiles of halos: what lies in shells round each of them, and where it is some times as dense as the mean.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/halos/finder/halo_options.hpp"
#include "analysis/halos/finder/known_halos.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// A component of a variable, whose mass-weighted mean is wanted in each shell.
struct ProfileField {
  std::int32_t variable = -1;
  int component = 0;
  std::string name;  ///< of its column
};

/// What is wanted of each halo. Lengths are the mesh's.
struct ProfileQuery {
  enum class About { peak, mass_centre, centre };

  std::string file;
  Pieces pieces = Pieces::automatic;
  bool sphere = true;         ///< all cells within the radius; otherwise those of the halo
  About about = About::peak;  ///< where shells have their middle
  std::vector<double> edges;  ///< of the shells, radii, ascending; those at their lower edge belong to a shell
  std::vector<ProfileField> fields;
  std::vector<double> overdensities;
  std::optional<double> reference;  ///< density of overdensity 1; none: the mean

  [[nodiscard]] std::size_t shells() const noexcept { return edges.size() - 1; }
  [[nodiscard]] bool needs_mean() const noexcept { return !overdensities.empty() && !reference; }
  /// Where a halo is looked at from, by its centroids from the peak: `weighted` with the mass, and `plain`.
  [[nodiscard]] std::array<double, 3> offset_of(const std::array<double, 3>& weighted,
                                                const std::array<double, 3>& plain) const noexcept;
};

/// The option `profile`, and its value, if given. Throws Error(configuration).
[[nodiscard]] Option profile_option();
/// `density`: the variable that halos are looked for in; `shortest`: the length of a cell's shortest side.
[[nodiscard]] std::optional<ProfileQuery> read_profile(const Settings& settings, const Metadata& metadata,
                                                       const Variable& density, double shortest);

/// Of this server's cells what each halo's shells get, exactly: a partial result. `runs`: of halos, if their own cells
/// are wanted.
[[nodiscard]] Bytes sum_shells(const ProfileQuery& query, const Field& field, const std::vector<NumberedRun>& runs,
                               const KnownHalos& known, const LocalInput& input);

/// What sums of shells are sums of.
struct ShellUnits {
  int dimensions = 3;
  double volume = 1;    ///< of a cell, or what volumes of cells are multiples of
  bool levels = false;  ///< cells have volumes of their own
};

/// What profiles add to the table of halos: of each of this server's halos a number for each column.
struct VirialColumns {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
};

/// Collective: adds up partials, each halo's on the server that has it, and writes the table. `mine`: this server's
/// halos by the linear indices of their peaks, which stand in the table but on levels; `first`: the number of the first
/// of them. `mean`: of the field, which overdensities refer to if the query needs it; else any number. Throws on all
/// servers alike.
[[nodiscard]] VirialColumns write_profiles(const ProfileQuery& query, const ShellUnits& units,
                                           std::vector<Bytes> partials, const std::vector<Index>& mine,
                                           std::int64_t first, double mean, const CombineInput& input);

}  // namespace sidestream::halos
