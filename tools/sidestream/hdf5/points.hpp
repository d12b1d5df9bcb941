// Datasets of a program that are lists of points: their positions, and values at them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hdf5/records.hpp"

namespace sidestream {

/// A mesh of points that datasets have.
struct FoundPoints {
  std::vector<std::string> coordinates;  ///< x, y, z, or one with all of them; empty: not known
  std::int64_t count = 0;                ///< in the end
  bool grows = false;                    ///< each step adds its points
  std::vector<std::string> arrays{};     ///< values at them
};

/// True if each step adds to a dataset along its first axis, which is no axis of steps.
[[nodiscard]] bool adds_points(const RecordedDataset& set);

/// Finds lists of points: datasets of the same length with names like x and y, or a list of two or three columns named
/// like a position. `by_index`: datasets may grow in a file.
[[nodiscard]] std::vector<FoundPoints> find_points(const std::map<std::string, RecordedDataset>& datasets,
                                                   bool by_index);

}  // namespace sidestream
