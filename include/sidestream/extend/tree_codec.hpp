// The contract of a codec that predicts values in cells of octrees from neighbouring and related values.
#pragma once

#include <optional>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/error.hpp"
#include "sidestream/extend/codec.hpp"

namespace sidestream {

/// The sibling groups of a chunk. Each consists of the children of one cell of the level above.
struct SiblingGroups {
  int dimensions = 3;  ///< 1 to 3; a group has 2^dimensions cells
  /// The number of each group's parent in TreeChunk::parents, strictly ascending. Empty if the cells are roots, whose
  /// number is free.
  std::span<const Index> parent{};
  /// The neighbours of each group's parent, at -x, +x, -y, ...: `2 * dimensions` numbers like those of `parent`, or -1
  /// if TreeChunk::parents lacks the neighbour. May be empty if neighbours are unknown; predictions are better with
  /// them.
  std::span<const Index> beside{};
};

/// Another variable in the same cells, already decoded.
struct Companion {
  Type type = Type::float64;
  BytesView values{};   ///< in the cells of the chunk
  BytesView parents{};  ///< in the order of TreeChunk::parents; may be empty for companions that MeanRelation does not
                        ///< name
};

/// A chunk without its values, known to both encoder and decoder.
struct TreeChunk {
  Type type = Type::float64;
  SiblingGroups groups{};
  BytesView parents{};  ///< values of the same variable in the level above, or in a part of it; empty for roots
  std::span<const Companion> companions{};  ///< in the order in which `Relations` numbers them
};

/// coefficient * (product of companions `times`) / (product of companions `over`), all in the same cell. Numbers are
/// positions in TreeChunk::companions.
struct RelationTerm {
  double coefficient = 1;
  std::vector<int> times{}, over{};
};

/// The expression scale * w * value + (sum of `offset`) of a parent is the mean of this expression over its children.
/// Here w is the companion `weight`, or 1.
///   density:                  {}
///   velocity:                 weight = density
///   pressure, energy closure: scale = 1 / (gamma - 1), offset = 1/2 density u u + 1/2 density v v + ...
struct MeanRelation {
  double scale = 1;
  int weight = -1;
  std::vector<RelationTerm> offset{};
};

/// The variable is the mean over one face of the cell of a vector's component normal to it.
struct FaceRelation {
  int axis = 0;
  bool high = false;  ///< the face at the upper end of the axis
  /// The companion with the same component on the opposite face: a cell's high face is its neighbour's low face.
  int opposite = -1;
  /// The companions with the other components of a divergence-free vector: the low and the high face for each axis
  /// other than `axis`. Empty if nothing is known. Cells are cubes, unless `lengths` has the lengths of their edges.
  std::vector<int> others{};
  std::vector<double> lengths{};  ///< empty, or one for each axis
};

/// Declared relations of one variable, used for prediction. If a relation does not hold, more bytes are needed, but
/// nothing is lost.
struct Relations {
  /// A child's share of its parent's value in a uniform field, for conservative quantities (0.125 of a cell's mass in
  /// three dimensions). The mean in `mean` is then taken over the children's values divided by this share.
  double factor = 1;
  std::optional<MeanRelation> mean{};
  /// The face of a parent is the mean of its children's faces on it.
  std::optional<FaceRelation> face{};
  /// The value is this sum in each cell, for example an energy as a sum over pressure, density and velocity. Empty if
  /// unknown.
  std::vector<RelationTerm> closure{};
  /// Number of companions: all numbers above are less.
  int companions = 0;
};

/// The values that a stream needs to be decoded.
struct TreeStreamNeeds {
  bool parents = false;
  bool beside = false;
  std::vector<int> companions{};  ///< numbered as in Relations; the other companions may be empty
};

/// A codec that uses more than the values: those of the level above and of other variables, which a reader decodes
/// first. Its chunks are runs of whole sibling groups of one level, or of roots. Databases call it for values in cells
/// of octrees whose flags they have, and it is the only codec in such a list. Like any codec it has no state. It is
/// registered as a CodecKind whose `create` makes a TreeCodec.
class TreeCodec : public Codec {
 public:
  [[nodiscard]] bool packs() const final { return true; }
  /// Values stay unchanged if their tree is unknown.
  [[nodiscard]] bool encode(BytesView, Type, Bytes&) const final { return false; }
  void decode(BytesView, Type, std::span<std::byte>) const final {
    throw Error(Code::file,
                "values through the codec '" + name() + "' without the tree that they are on; the file is damaged");
  }
  /// Encodes the values of a chunk, which may be empty. `hurries`: the server is late, so time counts instead of size.
  /// Throws Error(usage) if sizes do not fit each other.
  [[nodiscard]] virtual Bytes encode_cells(BytesView values, const TreeChunk& chunk, const Relations& relations,
                                           bool hurries) const = 0;
  /// Reads only the first bytes of a stream. Throws Error(file) if they are damaged.
  [[nodiscard]] virtual TreeStreamNeeds needs(BytesView stream) const = 0;
  /// The inverse of encode_cells(); `chunk` has at least what the stream needs. Throws Error(file) if the stream is
  /// damaged, or was made with different parents or companions; `values` is undefined then. Never accesses memory
  /// beyond its arguments.
  virtual void decode_cells(BytesView stream, const TreeChunk& chunk, const Relations& relations,
                            std::span<std::byte> values) const = 0;
};

}  // namespace sidestream
