// Isosurfaces in trees and in patches on refinement levels.
//
// Points are the centres of counted cells; cells are cells of the dual mesh (leaf_tree.hpp). `local` extracts the
// surface around corners whose leaves all belong to one block. `combine` extracts the rest, around corners between
// leaves of several blocks; the partial contains these leaves.
//
// Each block gives the leaves of its rim. Servers redistribute them by position, in equal shares of a Morton curve:
// each leaf goes to the servers in whose share its corners lie, so that the server that owns a corner has all leaves
// around it. The amount of data grows with the blocks' rims, and goes to neighbours on the curve.
//
// As layers of an image (LevelLayers) surfaces are complete, with normals, before they are drawn.
#pragma once

#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/mesh/lattice.hpp"
#include "visualisation/contour/surface_shares.hpp"
#include "visualisation/extract/extract.hpp"
#include "visualisation/mesh/amr/leaf_tree.hpp"

namespace sidestream {

/// The rim of one block.
struct BlockRim {
  std::int64_t block = 0;
  LeafSet leaves;
};

[[nodiscard]] Bytes to_bytes(std::span<const BlockRim> rims);
[[nodiscard]] std::vector<BlockRim> to_rims(BytesView bytes);

/// Leaves of several blocks, and the dual cells between them that only this server contours.
struct Seams {
  LeafSet leaves;
  std::vector<DualCell> duals;
};

/// Joins the rims of all servers' blocks. Collective. Each has `width` columns. The dual cells over all servers are the
/// same however rims are divided among them.
[[nodiscard]] Seams join_rims(const Lattice& lattice, std::span<const BlockRim> rims, std::size_t width,
                              std::span<const double> values, Communicator& servers);

struct LevelPieces {
  std::vector<Piece> pieces;   ///< as from extract()
  std::vector<BlockRim> rims;  ///< for pieces_between
};

[[nodiscard]] LevelPieces extract_from_levels(const IsosurfaceQuery& query, const LocalInput& input);

/// Collective: returns the pieces between blocks, each on one server. `rims`: of all blocks of this server.
[[nodiscard]] std::vector<Piece> pieces_between(const IsosurfaceQuery& query, const Metadata& metadata,
                                                std::span<const BlockRim> rims, Communicator& servers);

/// Collective: adds normals to the pieces of all servers. `rims`: as for pieces_between, whose pieces begin at index
/// `between`.
void add_normals(const IsosurfaceQuery& query, const Metadata& metadata, std::span<const BlockRim> rims,
                 std::vector<Piece>& pieces, std::size_t between, Communicator& servers);

/// Rims of several surfaces, by index, in partials that contain other data as well.
class LayerRims {
 public:
  explicit LayerRims(std::size_t layers) : rims_(layers) {}
  void add(std::size_t layer, std::vector<BlockRim> rims);
  [[nodiscard]] std::span<const BlockRim> of(std::size_t layer) const { return rims_[layer]; }
  /// A partial with the rims and `rest`.
  [[nodiscard]] Bytes with(BytesView rest) const;
  /// Adds the rims of partials, and returns the rest of each.
  [[nodiscard]] std::vector<Bytes> split(std::span<const Bytes> partials);

 private:
  std::vector<std::vector<BlockRim>> rims_;
};

/// Holds such surfaces between `local` and `combine`. A point's normal is the mean over all adjacent triangles, from
/// whatever blocks. So triangles cannot be drawn before those between blocks exist.
class LevelLayers {
 public:
  explicit LevelLayers(std::size_t layers) : given_(layers), held_(layers), rims_(layers), pieces_(layers) {}

  /// In `local`: adds a layer's pieces of this server's blocks.
  void add(std::size_t layer, LevelPieces found);
  /// After that: returns the partial, including `rest`.
  [[nodiscard]] Bytes partial(const LocalInput& input, BytesView rest);

  /// In `combine`: returns the rest of each partial.
  [[nodiscard]] std::vector<Bytes> take(const CombineInput& input);
  /// After that, collective, for each layer: returns all its pieces, including those between blocks, with normals if
  /// the query requests them.
  [[nodiscard]] std::vector<Piece> surface(std::size_t layer, const IsosurfaceQuery& query, const CombineInput& input);

  void drop() noexcept;

 private:
  std::vector<LevelPieces> given_;  ///< used in `local`
  std::vector<LocalPieces> held_;
  LayerRims rims_;                          ///< used in `combine`
  std::vector<std::vector<Piece>> pieces_;  ///< used in `combine`
};

}  // namespace sidestream
