// Lossless coder for values of octrees: one stream of bytes for each variable, level and chunk.
//
// Use in a database: levels are coded from the roots down. A chunk is a run of whole sibling groups of one level
// (2^d consecutive cells each, x fastest). Roots are chunks without parents. Companions come before the variables that
// name them. For each chunk of each variable:
//     Bytes stream = encode_tree_values(values, chunk, relations);
// The head of the stream tells a reader which values it must decode first (tree_stream_needs). Parents are values of
// the level above; companions are other variables in the same cells. The reader decodes these, and then calls
//     decode_tree_values(stream, chunk, relations, values);
// with the same `chunk` and `relations`. Relations belong to the schema; parents and neighbours follow from the
// structure (tree_links.hpp). Parts that are not needed may be empty. The checksum of a stream reveals parents or
// companions that differ from those of the encoder. docs/database-trees.md specifies the bytes.
//
// All functions are pure: no state, no files, any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"

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

/// A chunk without its values: what encoder and decoder both know.
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

/// Relations that are declared for one variable. A relation predicts. If it does not hold, more bytes are needed, but
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

/// The method of a stream. The numbers are part of the format.
enum class TreeMethod : std::uint8_t {
  raw = 0,             ///< the values themselves
  constant = 1,        ///< one value, which all cells have
  zstd = 2,            ///< the bytes through zstd
  shuffled = 3,        ///< the bytes, grouped by significance, through zstd
  parent_xor = 4,      ///< exclusive or with the parent, without common leading zeros (parent_xor.hpp)
  predicted = 5,       ///< residual of a prediction, by its length and its bits
  predicted_zstd = 6,  ///< residual of a prediction, shuffled, through zstd
};

/// The name in docs/database-trees.md. Streams have the number only.
[[nodiscard]] std::string_view name_of(TreeMethod method) noexcept;

/// Settings of an encoder; decoders do not need them.
struct TreeCoding {
  std::optional<TreeMethod>
      method{};         ///< this method without trials, if it is possible; integers and roots cannot be predicted
  int header_bits = 6;  ///< for parent_xor: number of bits for a count of leading zeros; 4 in the paper
  int zstd_level = 0;   ///< 0: chosen by trials
};

/// Encodes the values of a chunk, which may be empty. Throws Error(usage) if sizes do not fit each other.
[[nodiscard]] Bytes encode_tree_values(BytesView values, const TreeChunk& chunk, const Relations& relations = {},
                                       const TreeCoding& coding = {});

/// The values that a stream needs to be decoded.
struct TreeStreamNeeds {
  TreeMethod method = TreeMethod::raw;
  bool parents = false;
  bool beside = false;
  std::vector<int> companions{};  ///< numbered as in Relations; the other companions may be empty
};

/// Reads only the first bytes of a stream; 16 are enough. Throws Error(file) if they are damaged.
[[nodiscard]] TreeStreamNeeds tree_stream_needs(BytesView stream);

/// Fills `values`, which has the size of the argument of encode_tree_values(). Throws Error(file) if the stream is
/// damaged, or was made with other parents or companions; `values` is undefined then. Throws Error(usage) if `chunk`
/// lacks values that the stream needs.
void decode_tree_values(BytesView stream, const TreeChunk& chunk, const Relations& relations,
                        std::span<std::byte> values);

}  // namespace sidestream
