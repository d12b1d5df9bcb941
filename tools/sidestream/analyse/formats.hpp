// The formats of files that are read: finding iterations, and opening them.
#pragma once

#include <string>

#include "analyse/snapshot.hpp"

namespace sidestream::analysing {

/// The contexts of a database, as they were written; of an earlier run those before the first cycle of each later one.
[[nodiscard]] StoredIterations database_iterations(const std::string& directory);
[[nodiscard]] std::unique_ptr<Snapshot> open_database(const StoredIteration& iteration);

/// A plotfile of AMReX: one iteration.
[[nodiscard]] StoredIterations plotfile_iterations(const std::string& directory);
[[nodiscard]] std::unique_ptr<Snapshot> open_plotfile(const StoredIteration& iteration);

/// A file that the output `hdf5` has written: one iteration.
[[nodiscard]] StoredIterations fields_iterations(const std::string& path);
[[nodiscard]] std::unique_ptr<Snapshot> open_fields(const StoredIteration& iteration);

/// What numbers of openPMD are given in.
enum class Units { si, stored };
/// A file of openPMD: all its iterations, by ascending number.
[[nodiscard]] StoredIterations openpmd_iterations(const std::string& path, Units units);
[[nodiscard]] std::unique_ptr<Snapshot> open_openpmd(const StoredIteration& iteration, Units units);

}  // namespace sidestream::analysing
