// Formats of files that can be read: functions that list iterations and open them.
#pragma once

#include <memory>
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

// Descriptions of other programs' HDF5 files: the arrays of variables and the geometry of meshes.

class Description;

/// Parses the text of the file `path`; docs/analysing-files.md defines its keys. Throws Error(configuration).
[[nodiscard]] std::shared_ptr<const Description> read_description(const std::string& text, const std::string& path);

/// The iteration in a described file. `number`: index of the file among all, its cycle by default.
[[nodiscard]] StoredIterations described_iterations(const std::string& path, const Description& description,
                                                    std::int64_t number);
[[nodiscard]] std::unique_ptr<Snapshot> open_described(const StoredIteration& iteration,
                                                       const Description& description);

}  // namespace sidestream::analysing
