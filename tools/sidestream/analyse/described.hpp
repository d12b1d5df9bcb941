// A description of HDF5 files of other programs: which array is which variable, and where the mesh lies.
#pragma once

#include <memory>
#include <string>

#include "analyse/snapshot.hpp"

namespace sidestream::analysing {

class Description;

/// The text of the file `path`; docs/analysing-files.md has its words. Throws Error(configuration).
[[nodiscard]] std::shared_ptr<const Description> read_description(const std::string& text, const std::string& path);

/// A file as the description says: one iteration. `number`: of the file among all, which is its cycle where nothing
/// else says it.
[[nodiscard]] StoredIterations described_iterations(const std::string& path, const Description& description,
                                                    std::int64_t number);
[[nodiscard]] std::unique_ptr<Snapshot> open_described(const StoredIteration& iteration,
                                                       const Description& description);

}  // namespace sidestream::analysing
