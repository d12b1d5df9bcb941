// Octrees with values on all levels, the input of the benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "amr_codec/values/value_coder.hpp"

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
  std::vector<std::vector<std::uint8_t>> refined;  ///< flags of the cells of each level
  std::vector<TreeVariable> variables;
  bool single = false;  ///< true if the values have 4 bytes each, so that all are single-precision numbers
};

/// Declares density, velocity and pressure with the relations of their means. `gamma`: the ratio of specific heats.
void declare_gas(TreeData& tree, double gamma);

/// Reads the output of `blast --dump`. Throws std::runtime_error.
[[nodiscard]] TreeData read_blast(const std::string& file, double gamma);

/// Reads all domains of a RAMSES output with five hydrodynamic variables, each with all cells in its files.
[[nodiscard]] std::vector<TreeData> read_ramses(const std::string& directory);

/// Source of the values of refined cells.
enum class Parents {
  means,     ///< means of conserved quantities, and of faces
  children,  ///< the first of the children
  stale,     ///< outdated means, as in codes that do not keep them up to date
};

/// Variants of codes and their gas.
struct MagnetisedKind {
  std::string name = "magnetised";
  int finest = 7;  ///< finest level
  unsigned seed = 1;
  double strength = 1;     ///< strength of the field
  double fall = 1.0 / 3;   ///< decay of the gas' strength from an octave to the next, in powers of 2
  bool single = false;     ///< single precision
  bool prolonged = false;  ///< the finest cells have just been made out of their parents, by slopes
  bool energy = false;     ///< true if the total energy is stored, too, which is a sum of the others
  bool centred = false;    ///< true if the field is in cells: no faces are stored
  Parents parents = Parents::means;
};

/// Gas and a magnetic field like those of turbulence, in a tree: density, velocity, pressure, and the field on the low
/// and the high face of each axis. The field is the curl of a potential on the edges of the finest cells, summed up in
/// many steps as a code with constrained transport does it; parents are means, as RAMSES takes them.
[[nodiscard]] TreeData make_magnetised(const MagnetisedKind& kind);

/// Variants of the same gas in other codes.
[[nodiscard]] std::vector<MagnetisedKind> magnetised_kinds(int finest);

}  // namespace benchmark
