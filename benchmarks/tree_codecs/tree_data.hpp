// Octrees with values on all levels, as the benchmark takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/trees/values/value_coder.hpp"

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
  bool single = false;  ///< the values are of 4 bytes each: all are numbers of single precision
};

/// Density, velocity and pressure with what is known of their means: `gamma` is the gas' ratio of specific heats.
void declare_gas(TreeData& tree, double gamma);

/// What `blast --dump` writes. Throws std::runtime_error.
[[nodiscard]] TreeData read_blast(const std::string& file, double gamma);

/// All domains of an output of RAMSES with five hydrodynamic variables, each with all the cells that its files have.
[[nodiscard]] std::vector<TreeData> read_ramses(const std::string& directory);

/// Where the values of refined cells are from.
enum class Parents {
  means,     ///< of what is conserved, and of faces
  children,  ///< the first of the children
  stale,     ///< means of a moment before, as codes leave them that do not keep them up
};

/// How codes and their gas differ.
struct MagnetisedKind {
  std::string name = "magnetised";
  int finest = 7;  ///< level
  unsigned seed = 1;
  double strength = 1;     ///< of the field
  double fall = 1.0 / 3;   ///< of the gas' strength from an octave to the next, in powers of 2
  bool single = false;     ///< single precision
  bool prolonged = false;  ///< the finest cells have just been made out of their parents, by slopes
  bool energy = false;     ///< its total is stored too, which is a sum of the others
  bool centred = false;    ///< the field is in cells: no faces are stored
  Parents parents = Parents::means;
};

/// Gas and a magnetic field like those of turbulence, in a tree: density, velocity, pressure, and the field on the low
/// and the high face of each axis. The field is the curl of a potential on the edges of the finest cells, summed up in
/// many steps as a code with constrained transport does it; parents are means, as RAMSES takes them.
[[nodiscard]] TreeData make_magnetised(const MagnetisedKind& kind);

/// What the same might be elsewhere.
[[nodiscard]] std::vector<MagnetisedKind> magnetised_kinds(int finest);

}  // namespace benchmark
