// Relations between values of trees: checks that declared ones make sense.
#pragma once

#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// Throws Error(configuration) unless the relations of the variable name variables in cells of the same octree, whose
/// own relations do not come back to it, with the components that they have. The sentence names the variable.
void check_relations(const Metadata& metadata, const Variable& variable);

}  // namespace sidestream
