// Surfaces of trees and patches.
#pragma once

#include <string>

#include "support/level_cases.hpp"
#include "visualisation/kinds.hpp"

namespace sidestream::testing {

inline Surface run_tree(const TreeWorld& world, std::size_t blocks, const std::string& yaml, Communicator& communicator,
                        std::size_t partials = 1) {
  const TreeBlocks tree(world, blocks);
  CapturedResults results = run_lists(isosurface_kind(), yaml, tree.domain, tree.blocks, communicator, partials);
  return results.surfaces.empty() ? Surface{} : results.surfaces.begin()->second;
}

inline Surface alone(const TreeWorld& world, std::size_t blocks, const std::string& yaml, std::size_t partials = 1) {
  MpiCommunicator self(MPI_COMM_SELF);
  return run_tree(world, blocks, yaml, self, partials);
}

inline Surface alone(const PatchWorld& world, const std::string& yaml, std::size_t partials = 1) {
  MpiCommunicator self(MPI_COMM_SELF);
  CapturedResults results = run_patches(isosurface_kind(), yaml, world, self, partials);
  return results.surfaces.begin()->second;
}

}  // namespace sidestream::testing
