// Selected variables, with the arrays that have the positions of their meshes.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// The selection followed by the arrays of its meshes, in the same pieces and with the same halo. Throws as
/// check_selection does.
[[nodiscard]] std::vector<Selected> with_mesh_arrays(const Selection& selection, const Metadata& metadata);

/// Variables by id, ascending and each once, with the arrays of their meshes.
[[nodiscard]] std::vector<std::int32_t> with_mesh_arrays(std::vector<std::int32_t> variables, const Metadata& metadata);

}  // namespace sidestream
