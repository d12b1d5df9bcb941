// What one server needs of others in an iteration, and the views that are made of it: pieces of blocks, layers around
// them, and pieces of decompositions. The same for all placements.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "server/redistribution/movement.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// The views of one decomposition of a variable: one, or none where the piece is empty.
struct PieceViews {
  Selected selected;
  std::vector<BlockView> views;
};

/// The views of one iteration. They point into the memory that they were made from, and into `memory`.
struct Views {
  std::vector<std::vector<BlockView>> blocks;  ///< as published: by variable id, ascending block id
  std::vector<PieceViews> pieces;              ///< in the order of Movement::decomposed
  std::vector<std::unique_ptr<std::byte[]>> memory;
};

/// A plan, which holds while the blocks, what their arrays cover and the selections do. Values of neighbours come from
/// the blocks that own them, or, where ghosts are declared filled, from the block's own array; what several views want
/// is wanted once, and what lies in a piece of this server is read there.
class Redistribution {
 public:
  /// The points that a block owns of a variable: see BlockTable::owned.
  using Owned = std::function<const std::vector<Box>&(const Variable&, const Block&)>;
  /// What the arrays of a variable on a block cover: see AllocatedBoxes::of.
  using Allocated = std::function<Box(const Variable&, const Block&)>;
  struct Place {
    int server = 0, servers = 1;
    bool values_in_place = false;  ///< the blocks of this server's clients can be read in place
  };
  /// `metadata` outlives this object. Without `allocated` arrays cover the points of their blocks.
  Redistribution(const Metadata& metadata, const BlockTable& table, std::shared_ptr<const Movement> movement,
                 const Place& place, const Owned& owned, const Allocated& allocated = {});

  /// The values that it takes. Of blocks at hand they are whole, and arrays may cover more.
  [[nodiscard]] const std::vector<Wanted>& wanted() const noexcept { return wanted_; }
  /// By position in `wanted`: the server whose clients have it.
  [[nodiscard]] const std::vector<std::int32_t>& holders() const noexcept { return holders_; }
  [[nodiscard]] const Movement& movement() const noexcept { return *movement_; }
  /// What moves for the sake of one iteration: whole pieces, unless they are at hand, and the rest: layers around them
  /// and what pieces of decompositions take. `values`: see views.
  struct Amount {
    std::int64_t blocks = 0;  ///< pieces, counted once for each variable
    std::uint64_t pieces = 0, layers = 0;
  };
  [[nodiscard]] Amount count(std::span<const ArrayView> values) const;
  /// Gives views that `views` made before other values. False if they are of other blocks, or not of whole blocks
  /// alone: then they are not to be used again.
  [[nodiscard]] bool refresh(Views& views, std::span<const ArrayView> values) const;
  /// `values`: for each of `wanted` an array that covers its points, without data if the block was not published.
  [[nodiscard]] Views views(std::span<const ArrayView> values) const;

 private:
  struct Source {  ///< a part of a view
    std::size_t wanted;
    Box box;       ///< in the view's indices
    Index3 shift;  ///< the view's indices less those of the values
  };
  struct Own {  ///< a piece of a block
    std::int32_t variable;
    std::int32_t halo;
    std::size_t piece;
    std::size_t wanted;
    Box points;
    std::vector<Box> owned;
    std::vector<Source> around{};
  };
  struct Piece {         ///< of a decomposition
    std::size_t number;  ///< in Movement::decomposed
    Block block;
    Box points, box, own;  ///< all, what the array covers, what counts
    std::vector<Source> sources{};
    std::vector<Box> absent{};  ///< no block has them
  };
  class Builder;

  [[nodiscard]] BlockView view_of(const Own& own, std::span<const ArrayView> values) const;
  [[nodiscard]] BlockView view_of(const Piece& piece, std::span<const ArrayView> values, Views& result) const;

  const Metadata& metadata_;
  std::shared_ptr<const Movement> movement_;
  Place place_;
  std::vector<Wanted> wanted_;
  std::vector<std::int32_t> holders_;
  std::vector<Own> own_;
  std::vector<std::size_t> layers_;  ///< positions in `wanted` of what comes for the sake of others
  std::vector<Piece> pieces_;
};

// From what was assembled for all tasks to what each entry of one task's selection asked for.

/// `entries`: as the task asked, without the arrays of meshes; these are found by the meshes. Points into `views`.
[[nodiscard]] std::vector<EntryViews> entry_views(const std::vector<Selected>& entries, const Metadata& metadata,
                                                  const Views& views);

/// The views of one decomposition, or null if nobody asked for it. `like`: of another variable, in the same pieces.
[[nodiscard]] const PieceViews* find_pieces(const Views& views, const Selected& like, std::int32_t variable);

}  // namespace sidestream
