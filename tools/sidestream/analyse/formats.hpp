// Formats of files that can be read: functions that list iterations and open them.
#pragma once

#include <string>

#include "analyse/snapshot.hpp"

namespace sidestream::analysing {

/// The contexts of a database in the order of writing; of an earlier run only those before the first cycle of a later
/// one.
[[nodiscard]] StoredIterations database_iterations(const std::string& directory);
[[nodiscard]] std::unique_ptr<Snapshot> open_database(const StoredIteration& iteration);

/// A plotfile of AMReX: one iteration.
[[nodiscard]] StoredIterations plotfile_iterations(const std::string& directory);
[[nodiscard]] std::unique_ptr<Snapshot> open_plotfile(const StoredIteration& iteration);

/// A file that the output `hdf5` has written: one iteration.
[[nodiscard]] StoredIterations fields_iterations(const std::string& path);
[[nodiscard]] std::unique_ptr<Snapshot> open_fields(const StoredIteration& iteration);

/// Units of the numbers read from openPMD.
enum class Units { si, stored };
/// A file of openPMD: all its iterations, by ascending number.
[[nodiscard]] StoredIterations openpmd_iterations(const std::string& path, Units units);
[[nodiscard]] std::unique_ptr<Snapshot> open_openpmd(const StoredIteration& iteration, Units units);

}  // namespace sidestream::analysing
