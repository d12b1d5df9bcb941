// Geometry that a program's attributes describe: openPMD's meshes and particles, images for Fides or VTK.
#pragma once

#include <adios2/cxx/IO.h>

#include <set>
#include <string>

#include "arrays/mapping.hpp"

namespace sidestream::adios2_engine {

/// A variable's name without the number of the iteration: /data/20/fields/E/x is /data/fields/E/x.
[[nodiscard]] std::string plain_name(const std::string& name);

/// Rules for the variables of these names, by their plain names. Variables without such attributes have none.
[[nodiscard]] arrays::Mapping conventions(adios2::IO& io, const std::set<std::string>& names);

/// The single value with a step's time, by VTK's description; otherwise `time`.
[[nodiscard]] std::string time_name(adios2::IO& io);

}  // namespace sidestream::adios2_engine
