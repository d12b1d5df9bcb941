// Results that consist of parts on several servers.
#pragma once

#include <span>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// Gathers the parts of all servers on rank 0, in the order of ranks; empty elsewhere. Collective.
[[nodiscard]] std::vector<Table> gather_parts(const Table& mine, Communicator& servers);
[[nodiscard]] std::vector<Surface> gather_parts(const Surface& mine, Communicator& servers);
[[nodiscard]] std::vector<DataSet> gather_parts(const DataSet& mine, Communicator& servers);

/// Joins such parts. Throws Error(analysis) if they do not fit together.
[[nodiscard]] Table joined(std::vector<Table> parts);
[[nodiscard]] Surface joined(std::vector<Surface> parts);
[[nodiscard]] CellSet joined(std::vector<CellSet> parts);
[[nodiscard]] DataSet joined(const std::vector<DataSet>& parts);

/// Position and size of the values in the whole array: `start` and `size`, or their defaults if these are empty.
[[nodiscard]] std::vector<Index> start_of(const DataSet::Array& array);
[[nodiscard]] const std::vector<Index>& size_of_part(const DataSet::Array& array);
/// Throws Error(analysis) if an array contradicts itself.
void check_array(const DataSet::Array& array);
/// Throws Error(analysis) unless all parts have the same arrays and fill them without overlap. Values are ignored.
void check_parts(std::span<const DataSet> parts);
/// A copy of the data set without values.
[[nodiscard]] DataSet without_values(const DataSet& data);

/// Size in memory.
[[nodiscard]] std::uint64_t bytes_of(const Table& table);
[[nodiscard]] std::uint64_t bytes_of(const SurfaceStream& surface);
[[nodiscard]] std::uint64_t bytes_of(const CellSet& cells);
[[nodiscard]] std::uint64_t bytes_of(const DataSet& data);

// Data sets as HDF5.

/// `.h5`: a dataset for each array; docs/formats.md describes them. Pieces get a file that shows the whole arrays.
[[nodiscard]] ResultFormat hdf5_format();

/// Throws Error(analysis) unless each array has a tuple for each point, or if a text is not UTF-8.
void check_surface(const std::string& file, const Surface& surface);

}  // namespace sidestream
