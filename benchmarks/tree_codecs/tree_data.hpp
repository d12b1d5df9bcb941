// Octrees with values on all levels, as the benchmark takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/trees/value_coder.hpp"

namespace benchmark {

struct TreeVariable {
  std::string name;
  std::vector<std::vector<double>> levels;  ///< values of the cells of each level
  sidestream::Relations relations;
  std::vector<std::size_t>
      companions;  ///< variables of the tree, in the order of the relations; each comes before this one
};

struct TreeData {
  std::string name;
  int dimensions = 3;
  sidestream::Index3 roots{1, 1, 1};
  std::vector<std::vector<std::uint8_t>> refined;  ///< of the cells of each level
  std::vector<TreeVariable> variables;
};

/// Density, velocity and pressure with what is known of their means: `gamma` is the gas' ratio of specific heats.
void declare_gas(TreeData& tree, double gamma);

/// What `blast --dump` writes. Throws std::runtime_error.
[[nodiscard]] TreeData read_blast(const std::string& file, double gamma);

/// All domains of an output of RAMSES with five hydrodynamic variables, each with all the cells that its files have.
[[nodiscard]] std::vector<TreeData> read_ramses(const std::string& directory);

/// Gas and a magnetic field like those of turbulence, in a tree whose finest level is `finest`: density, velocity,
/// pressure, and the field on the low and the high face of each axis. The field is the curl of a potential on the edges
/// of the finest cells, summed up in many steps as a code with constrained transport does it; fathers are means, as
/// RAMSES takes them.
[[nodiscard]] TreeData make_magnetised(int finest, unsigned seed);

}  // namespace benchmark
