// Values that one server needs from others in an iteration, and the views made of them: pieces of blocks, layers around
// them, and pieces of decompositions. The same for all placements.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "server/redistribution/block_assignment.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// The view of one decomposition of a variable; none if its piece is empty.
struct PieceViews {
  Selected selected;
  std::vector<BlockView> views;
};

/// Views of one iteration. They point to their source values, and into `memory`.
struct Views {
  std::vector<std::vector<BlockView>> blocks;  ///< published blocks: by variable id, ascending block id
  std::vector<PieceViews> pieces;              ///< in the order of BlockAssignment::decomposed
  std::vector<std::unique_ptr<std::byte[]>> memory;
};

/// A plan of fetched values and views. Valid as long as the blocks, the boxes of their arrays and the selections stay
/// the same. Values of neighbours come from the blocks that own them or, if ghosts are declared filled, from the
/// block's own array. Values that several views need are fetched once; values in a piece of this server are read in
/// place.
class ExchangePlan {
 public:
  /// The points of a variable that a block owns; see BlockTable::owned.
  using Owned = std::function<const std::vector<Box>&(const Variable&, const Block&)>;
  /// The box that arrays of a variable on a block cover; see AllocatedBoxes::of.
  using Allocated = std::function<Box(const Variable&, const Block&)>;
  struct Place {
    int server = 0, servers = 1;
    bool values_in_place = false;  ///< blocks of this server's clients can be read in place
  };
  /// `metadata` must outlive this object. Without `allocated`, arrays cover the points of their blocks.
  ExchangePlan(const Metadata& metadata, const BlockTable& table, std::shared_ptr<const BlockAssignment> assignment,
               const Place& place, const Owned& owned, const Allocated& allocated = {});

  /// The values to fetch. Blocks in place are fetched whole, and their arrays may cover more.
  [[nodiscard]] const std::vector<Wanted>& wanted() const noexcept { return wanted_; }
  /// By position in `wanted`: the server whose clients hold the values.
  [[nodiscard]] const std::vector<std::int32_t>& holders() const noexcept { return holders_; }
  [[nodiscard]] const BlockAssignment& assignment() const noexcept { return *assignment_; }
  /// Amount of data that moves in one iteration: whole pieces that are not in place, layers around pieces, and all
  /// values of decompositions. `values`: see views.
  struct Amount {
    std::int64_t blocks = 0;  ///< number of pieces, counted once for each variable
    std::uint64_t pieces = 0, layers = 0;
  };
  [[nodiscard]] Amount count(std::span<const ArrayView> values) const;
  /// Puts new values into views that `views` made. Returns false if the views are of other blocks, or not only of whole
  /// blocks; they must not be reused then.
  [[nodiscard]] bool refresh(Views& views, std::span<const ArrayView> values) const;
  /// `values`: for each of `wanted` an array that covers its points, with null data if the block was not published.
  [[nodiscard]] Views views(std::span<const ArrayView> values) const;

 private:
  struct Source {  ///< a part of a view
    std::size_t wanted;
    Box box;       ///< in the view's indices
    Index3 shift;  ///< the view's indices minus the values' indices
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
  struct Piece {         ///< a piece of a decomposition
    std::size_t number;  ///< index in BlockAssignment::decomposed
    Block block;
    Box points, box, own;  ///< all points; the box of the array; the points that count
    std::vector<Source> sources{};
    std::vector<Box> absent{};  ///< points that no block has
  };
  class Builder;

  [[nodiscard]] BlockView view_of(const Own& own, std::span<const ArrayView> values) const;
  [[nodiscard]] BlockView view_of(const Piece& piece, std::span<const ArrayView> values, Views& result) const;

  const Metadata& metadata_;
  std::shared_ptr<const BlockAssignment> assignment_;
  Place place_;
  std::vector<Wanted> wanted_;
  std::vector<std::int32_t> holders_;
  std::vector<Own> own_;
  std::vector<std::size_t> layers_;  ///< positions in `wanted` of layers around other blocks
  std::vector<Piece> pieces_;
};

// Selects one task's entries among the views assembled for all tasks.

/// Views of a task's `entries`, without the arrays of meshes, which are found by the mesh. Points into `views`.
[[nodiscard]] std::vector<EntryViews> entry_views(const std::vector<Selected>& entries, const Metadata& metadata,
                                                  const Views& views);

/// The views of one decomposition, or null if it was not requested. `like`: any selection with the same pieces.
[[nodiscard]] const PieceViews* find_pieces(const Views& views, const Selected& like, std::int32_t variable);

}  // namespace sidestream
