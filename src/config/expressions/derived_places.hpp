// Where the steps of a derived variable on an unstructured mesh lie.
#pragma once

#include <string>
#include <vector>

#include "data/derivation.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// There derivatives are of values at points and lie in cells: marks them, and looks whether what is joined lies at the
/// same places. Other meshes are left alone. Returns what is wrong, after "found 'text' for what, "; empty: nothing.
[[nodiscard]] std::string place_steps(std::vector<DerivationStep>& steps, const Metadata& metadata, const Mesh& mesh);

}  // namespace sidestream
