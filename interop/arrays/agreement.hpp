// The ranks' agreement on the meshes and variables that become of their arrays.
//
// Each rank knows only its parts. At the end of the first step with arrays all ranks describe theirs to each other, and
// every rank makes the same declarations of the same descriptions. Later parts find their place without communication.
#pragma once

#include <array>
#include <map>
#include <set>
#include <sidestream/data/box.hpp>
#include <sidestream/data/type.hpp>
#include <string>
#include <vector>

#include "mapping.hpp"
#include "opening.hpp"
#include "part.hpp"
#include "ranks.hpp"

namespace sidestream::arrays {

using interop::Problems;
using interop::Ranks;

/// A box that can be looked up.
using BoxKey = std::array<Index, 6>;
[[nodiscard]] inline BoxKey key_of(const Box& box) {
  return {box.lo[0], box.lo[1], box.lo[2], box.hi[0], box.hi[1], box.hi[2]};
}
[[nodiscard]] inline Box box_of(const BoxKey& key) { return {{key[0], key[1], key[2]}, {key[3], key[4], key[5]}}; }

/// An array that the ranks know.
struct AgreedArray {
  std::size_t mesh = 0;  ///< its position among the meshes
  std::string variable;
  std::string unit{};
  Type type = Type::float64;
  std::vector<Index> shape{};  ///< global arrays on boxes; lists may have another one each time
  int axes = 1;                ///< with the one of components
  int components = 1;          ///< if more than one, or `vector`: along the last axis
  bool vector = false;         ///< global arrays only
  int coordinate = -1;         ///< of a mesh of points: 0, 1 or 2 for x, y, z
  bool places = false;         ///< a `vector` with all coordinates of a mesh of points

  /// True if a part has all components, as parts are published.
  [[nodiscard]] bool is_whole(const Part& part) const { return !vector || part.count.back() == components; }
};

struct AgreedMesh {
  std::string name;
  bool points = false;  ///< blocks are lists
  int dimensions = 3;
  std::array<int, 3> axis_of{0, 1, 2};  ///< the axis i, j, k (0, 1, 2) that an array's axis is
  std::vector<Index> size;              ///< along i, j, k, as the following
  std::vector<double> origin, spacing;
  /// Points: names of arrays, or of the one with all of them. Empty: points are counted, along x in their block, and y
  /// is the number of the block.
  std::vector<std::string> coordinates;
  Type place_type = Type::float64;

  /// The box of a part in the mesh's indices. Of a list: from its first to its last value.
  [[nodiscard]] Box place(const Part& part, const AgreedArray& array) const;
  [[nodiscard]] std::string places() const { return name + "_coordinates"; }
};

struct Agreed {
  std::vector<AgreedMesh> meshes;
  std::map<std::string, AgreedArray> arrays;  ///< by the program's name
  std::set<std::string> left_out;             ///< arrays that cannot be used, as has been said
};

/// Agrees on all ranks' arrays. Collective; the same on every rank. `mapping` needs to be complete only on one rank.
/// Arrays whose parts overlap, or have a different type or shape on some ranks, are left out and named in `problems`.
[[nodiscard]] Agreed agree(const std::vector<Part>& parts, const Mapping& mapping, const Ranks& ranks,
                           Problems& problems);

}  // namespace sidestream::arrays
