// From one server's part of a plan to what it fetches, and from what came to the blocks that analyses see.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "server/movement.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Pieces and the neighbours' layers around them. Layers come from the blocks that own them, never from ghosts; what
/// lies in another piece of this server is read there, and what several pieces want is fetched once.
class Gathering {
 public:
  /// The points that a block owns of a variable: see BlockTable::owned.
  using Owned = std::function<const std::vector<Box>&(const Variable&, const Block&)>;
  /// References outlive this object.
  Gathering(const Metadata& metadata, const BlockTable& table, const Movement& movement, Owned owned);

  [[nodiscard]] const std::vector<Wanted>& wanted() const noexcept { return wanted_; }
  /// Bytes of whole pieces and of layers among `wanted`, as far as they are in `values`; see Transport::fetch.
  struct Bytes {
    std::int64_t blocks = 0;  ///< pieces, counted once for each variable
    std::uint64_t pieces = 0, layers = 0;
  };
  [[nodiscard]] Bytes count(std::span<const std::byte* const> values) const;
  /// By variable, ascending id; pieces that were not published are missing. Points into the memory of `values`.
  [[nodiscard]] std::vector<std::vector<BlockView>> views(std::span<const std::byte* const> values) const;

 private:
  struct Own {  ///< a piece of a variable
    std::int32_t variable;
    std::int32_t halo;
    std::size_t piece;
    std::size_t wanted;
    std::vector<Box> owned;
  };
  struct Layer {  ///< fetched for the sake of others
    std::int32_t variable;
    std::int64_t block;
    std::size_t wanted;
  };
  void add_pieces(const Variable& variable);
  void add_layers(const Variable& variable, std::size_t first_own);
  void add_layer_of(const Variable& variable, const Own& own, std::int64_t neighbour, std::vector<Box>& fetched) const;
  [[nodiscard]] ArrayView array(std::size_t wanted, const std::byte* data) const;
  void add_halo(const Own& own, BlockView& view, std::span<const std::byte* const> values) const;
  [[nodiscard]] Box reach(const Own& own) const;

  const Metadata& metadata_;
  const BlockTable& table_;
  const Movement& movement_;
  Owned owned_;
  std::vector<Wanted> wanted_;
  std::vector<Own> own_;
  std::vector<Layer> layers_;
  std::multimap<std::pair<std::int32_t, std::int64_t>, std::size_t> own_of_;     ///< by variable and block
  std::multimap<std::pair<std::int32_t, std::int64_t>, std::size_t> layers_of_;  ///< likewise
};

}  // namespace sidestream
