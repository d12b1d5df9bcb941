// Descriptions of other programs' HDF5 files: the arrays of variables and the geometry of meshes.
#pragma once

#include <memory>
#include <string>

#include "analyse/snapshot.hpp"

namespace sidestream::analysing {

class Description;

/// Parses the text of the file `path`; docs/analysing-files.md defines its keys. Throws Error(configuration).
[[nodiscard]] std::shared_ptr<const Description> read_description(const std::string& text, const std::string& path);

/// The iteration in a described file. `number`: index of the file among all, its cycle by default.
[[nodiscard]] StoredIterations described_iterations(const std::string& path, const Description& description,
                                                    std::int64_t number);
[[nodiscard]] std::unique_ptr<Snapshot> open_described(const StoredIteration& iteration,
                                                       const Description& description);

}  // namespace sidestream::analysing
