// Contexts as HDF5 files that hold no values.
#pragma once

#include <string>

#include "storage/database/layout.hpp"

namespace sidestream::database {

/// Writes `context-N.h5`, in which every variable without codecs is one array over its mesh that points into the
/// segments. Throws Error(file).
void show(const std::string& directory, const Entry& entry);

}  // namespace sidestream::database
