// Layout of our HDF5 files; docs/format-hdf5.md is the specification.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/writer.hpp"
#include "sidestream/kit/storage/hdf5/array_layout.hpp"

namespace sidestream {

/// Description of one dataset in a server's file, for the whole-mesh file.
struct StoredBlock {
  std::int32_t variable = -1;
  std::int32_t level = 0;
  std::int64_t id = 0;
  Box stored;              ///< the points in the dataset
  std::vector<Box> owned;  ///< points in the dataset that this block owns
};

/// `block-12`
[[nodiscard]] std::string block_name(std::int64_t id, std::int32_t level);
/// `variables/group/name`
[[nodiscard]] std::string variable_path(const Variable& variable);

/// Writes the root attributes of both kinds of file. `scaled`: some values are scaled integers, which readers of
/// earlier versions would misinterpret.
void describe_file(hdf5::Group& root, const std::string& kind, const Iteration& iteration,
                   const std::string& provenance, int servers, bool scaled = false);
/// Writes the group `meshes`, with the meshes of `variables`. `level_times`: times of levels, if they differ.
void describe_meshes(hdf5::Group& root, const Metadata& metadata, const std::vector<std::int32_t>& variables,
                     std::span<const double> level_times = {});
/// Writes the attributes of a variable, for its group or its virtual dataset.
void describe_variable(hdf5::Object& object, const Variable& variable, const Metadata& metadata);
/// Names the axes of a dataset, as HDF5's dimension scales do.
void describe_axes(hdf5::Object& dataset, const Variable& variable, int dimensions);
/// Writes `<name>_lo` and `<name>_hi`, both (i, j, k); without a prefix `lo` and `hi`.
void describe_box(hdf5::Object& object, const Box& box, const std::string& prefix = {});

// Times of single refinement levels, which a program passes in an event.

/// The times of levels, from 0 on, in the last event of that name in this iteration. Empty if there is none, or if
/// `event` is empty. Throws Error(analysis) if its values are not times.
[[nodiscard]] std::vector<double> level_times_of(const LocalInput& input, const std::string& event);

/// True if levels of the mesh may have different times.
[[nodiscard]] inline bool has_level_times(const Mesh& mesh) {
  return mesh.kind() == MeshKind::octree || !mesh.refinement.empty();
}

}  // namespace sidestream
