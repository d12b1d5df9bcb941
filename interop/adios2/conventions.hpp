// Geometry that a program's attributes describe: openPMD's meshes and particles, images for Fides or VTK.
#pragma once

#include <adios2/cxx/IO.h>

#include <optional>
#include <set>
#include <string>

#include "arrays/mapping.hpp"

namespace sidestream::adios2_engine {

/// A variable's name without the number of the iteration: /data/20/fields/E/x is /data/fields/E/x.
[[nodiscard]] std::string plain_name(const std::string& name);

/// The part of a variable's name before those of records, in openPMD's names: /data/20/ of /data/20/fields/E/x, or
/// /data/ without a number. Empty for other names.
[[nodiscard]] std::string iteration_of(const std::string& name);

/// openPMD's time of an iteration, `time` times `timeUnitSI`. `iteration`: as iteration_of() says; empty on ranks that
/// put nothing: then the last iteration that attributes tell of. Nothing if there is no finite one.
[[nodiscard]] std::optional<double> openpmd_time(adios2::IO& io, const std::string& iteration);

/// Rules for the variables of these names, by their plain names. Variables without such attributes have none.
[[nodiscard]] arrays::Mapping conventions(adios2::IO& io, const std::set<std::string>& names);

/// The single value with a step's time, by VTK's description; otherwise `time`.
[[nodiscard]] std::string time_name(adios2::IO& io);

}  // namespace sidestream::adios2_engine
