// Values of octrees as streams of bytes, and back, every bit: one stream for each variable, level and chunk.
//
// How a database uses it. Levels are coded from the roots down. A chunk is a run of whole sibling groups of one level
// (2^d cells each, siblings next to each other in the order of the tree, x fastest); roots are a chunk without parents.
// For each chunk of each variable, in an order in which companions come before what names them:
//     Bytes stream = encode_tree_values(values, chunk, relations);
// A reader finds in the stream's own header by which method it was made and what must be decoded before it
// (tree_stream_needs), decodes that (the parents: the level above; companions: the same cells in other variables), and
// then
//     decode_tree_values(stream, chunk, relations, values);
// with the same `chunk` and `relations`: relations belong to the schema, parents and neighbours follow from the
// structure (tree_links.hpp makes them from the refinement flags). What the stream does not need may be left empty. A
// stream decoded with other values beside it than it was made with is found out by its checksum. The bytes:
// docs/database-trees.md.
//
// Everything here is pure: no state, no files, any number of threads.
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

/// Where the cells of a chunk are in the tree: sibling groups, each the children of one cell of the level above.
struct SiblingGroups {
  int dimensions = 3;  ///< 1 to 3; a group has 2^dimensions cells
  /// Of each group the number of its parent in TreeChunk::parents: ascending, each once. Empty: the cells of the chunk
  /// are roots, any number of them, and have no parents.
  std::span<const Index> parent{};
  /// Of each group the cells beside its parent at the parent's level, `2 * dimensions` numbers like those of `parent`:
  /// at -x, +x, -y, ...; -1 where there is none in TreeChunk::parents. May be empty: nothing is known of them.
  /// Predictions are better with it.
  std::span<const Index> beside{};
};

/// Another variable in the same cells, already decoded.
struct Companion {
  Type type = Type::float64;
  BytesView values{};  ///< of the cells of the chunk
  BytesView
      parents{};  ///< numbered as TreeChunk::parents; only those in MeanRelation need it, others may leave it empty
};

/// What encoder and decoder both know.
struct TreeChunk {
  Type type = Type::float64;
  SiblingGroups groups{};
  BytesView parents{};  ///< values of the same variable in the level above (or a part of it); empty for roots
  std::span<const Companion> companions{};  ///< those that `Relations` counts, in its order
};

/// coefficient * (product of companions `times`) / (product of companions `over`), all of the same cell. Numbers are
/// places in TreeChunk::companions.
struct RelationTerm {
  double coefficient = 1;
  std::vector<int> times{}, over{};
};

/// scale * w * value + (sum of `offset`) of a parent is the mean of its children's; w is the companion `weight`, or 1.
///   density:                  {}
///   velocity:                 weight = density
///   pressure, energy closure: scale = 1 / (gamma - 1), offset = 1/2 density u u + 1/2 density v v + ...
struct MeanRelation {
  double scale = 1;
  int weight = -1;
  std::vector<RelationTerm> offset{};
};

/// The variable is the mean of a vector's component over one face of the cell, the component normal to it.
struct FaceRelation {
  int axis = 0;
  bool high = false;  ///< the face at the upper end of the axis
  /// The companion that has the same component at the cell's other face: a cell's high face is its neighbour's low
  /// face.
  int opposite = -1;
  /// The vector has no divergence: the companions with the other components, of each axis but `axis` in their order the
  /// low and the high face. Empty: nothing is known of it. Cells are cubes, unless `lengths` says how long their edges
  /// are.
  std::vector<int> others{};
  std::vector<double> lengths{};  ///< empty, or of each axis
};

/// What is declared of one variable. A relation predicts; where it does not hold more bytes are needed, nothing is
/// lost.
struct Relations {
  /// Of conservative quantities: what a child has of its parent's value where the field is uniform (an eighth of a
  /// cell's mass in three dimensions: 0.125). Then `mean` is of the children's values divided by it.
  double factor = 1;
  std::optional<MeanRelation> mean{};
  /// A parent's face is the mean of its children's faces on it.
  std::optional<FaceRelation> face{};
  /// The value is this sum in each cell by itself: an energy out of pressure, density and velocity, say. Empty:
  /// nothing.
  std::vector<RelationTerm> closure{};
  /// How many companions there are: all numbers above are less.
  int companions = 0;
};

/// How a stream was made. The numbers are part of the format.
enum class TreeMethod : std::uint8_t {
  raw = 0,             ///< as they are
  constant = 1,        ///< one value
  zstd = 2,            ///< the bytes through zstd
  shuffled = 3,        ///< bytes of the same significance next to each other, through zstd
  parent_xor = 4,      ///< exclusive or with the parent, common leading zeros left out (paper 004, section 2.3)
  predicted = 5,       ///< difference from a prediction, by its length and its bits
  predicted_zstd = 6,  ///< difference from a prediction, shuffled, through zstd
};

[[nodiscard]] std::string_view name_of(TreeMethod method) noexcept;

/// What an encoder may be told; a decoder needs none of it.
struct TreeCoding {
  std::optional<TreeMethod>
      method{};         ///< this one and no trial, where it can be: of integers and roots nothing is predicted
  int header_bits = 6;  ///< of parent_xor: bits that count leading zeros; 4 in the paper
  int zstd_level = 0;   ///< 0: as the trial finds worthwhile
};

/// Throws Error(usage) if the sizes do not fit each other, else only if memory is short. An empty chunk makes a stream
/// too.
[[nodiscard]] Bytes encode_tree_values(BytesView values, const TreeChunk& chunk, const Relations& relations = {},
                                       const TreeCoding& coding = {});

/// What must be there before a stream can be decoded.
struct TreeStreamNeeds {
  TreeMethod method = TreeMethod::raw;
  bool parents = false;
  bool beside = false;
  std::vector<int> companions{};  ///< numbers in Relations' order; the others may be empty
};

/// From the first bytes of a stream alone (16 are enough). Throws Error(file) if they are damaged.
[[nodiscard]] TreeStreamNeeds tree_stream_needs(BytesView stream);

/// Fills `values`, which has the size that encode_tree_values was given. Throws Error(file) if the stream is damaged or
/// was made beside other values (`values` then holds anything), Error(usage) if `chunk` lacks what the stream needs.
void decode_tree_values(BytesView stream, const TreeChunk& chunk, const Relations& relations,
                        std::span<std::byte> values);

}  // namespace sidestream
