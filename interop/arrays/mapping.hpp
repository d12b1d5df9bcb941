// The rules by which arrays become variables of meshes: those of a file, and those that a program's own metadata give.
//
//   meshes:
//     grid:      {origin: [0, 0, 0], spacing: [0.1, 0.1, 0.2], axes: [z, y, x]}
//     electrons: {type: points, coordinates: [e/x, e/y, e/z]}   # or one array of points x axes: [e/position]
//   arrays:
//     T:         {mesh: grid, variable: temperature, unit: K}
//     "v":       {mesh: grid, components: last}
//     "e/*":     {mesh: electrons}
//     "debug/*": {leave_out: true}
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace sidestream::arrays {

/// The geometry of a mesh. Lists may be shorter than the mesh has axes.
struct MeshRule {
  bool points = false;              ///< a mesh of points, whose arrays are lists
  std::vector<double> origin{};     ///< x, y, z of the lower corner; missing: 0
  std::vector<double> spacing{};    ///< along x, y, z; missing: 1
  std::vector<std::string> axes{};  ///< names of the arrays' axes, the slowest first; empty: z, y, x
  /// Points: the arrays with x, y, z, or one with all of them along its last axis; empty: points are counted.
  std::vector<std::string> coordinates;
  bool grows = false;  ///< points: what each step adds to the arrays are its points (interop/hdf5)
};

/// The use of the arrays that a pattern names.
struct ArrayRule {
  std::string pattern;  ///< `*` stands for any characters, `?` for one
  bool exact = false;   ///< the pattern is a name
  std::string mesh{}, variable{}, unit{};
  bool components = false;  ///< the last axis counts components
  bool leave_out = false;
};

/// Rules for meshes and arrays. The first rule that fits counts.
struct Mapping {
  std::map<std::string, MeshRule> meshes{};
  std::vector<ArrayRule> arrays{};

  /// The first rule for a name; null: none.
  [[nodiscard]] const ArrayRule* find(const std::string& name) const;
  /// Adds rules that count where the present ones say nothing.
  void add(const Mapping& other);
};

/// Reads the text of a file. Throws Error(configuration): file, line, what was found and what was expected.
[[nodiscard]] Mapping read_mapping(const std::string& text, const std::string& file);

/// A sentence on each rule of a file that fits none of the arrays that a program has, and on each mesh that no rule of
/// the file or of `others` names.
[[nodiscard]] std::vector<std::string> unused(const Mapping& mapping, const std::set<std::string>& arrays,
                                              const std::string& file, const Mapping& others = {});
/// "'a', 'b' and 3 more", or "none".
[[nodiscard]] std::string some_of(const std::set<std::string>& names);

/// A mapping as text for other ranks, and back.
[[nodiscard]] std::string to_text(const Mapping& mapping);
[[nodiscard]] Mapping from_text(const std::string& text);

}  // namespace sidestream::arrays
