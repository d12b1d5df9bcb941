// Known fields on the meshes of a configuration, divided among blocks in any way, as tasks would see them on servers.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "data/images.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream::conformance {

/// How the meshes are divided and what is done to the values. Ghosts and shared nodes of other blocks hold wrong values
/// throughout: nobody may use them.
struct Case {
  std::string name;
  Index3 parts{1, 1, 1};    ///< blocks along each axis; more than cells make empty blocks
  int ghosts = 0;           ///< layers of untrusted points round each array
  int groups = 1;           ///< how many times `local` runs for each combining server, as with forwarders
  bool backwards = false;   ///< ids run against the positions
  bool nothing = false;     ///< no block is delivered
  bool odd_values = false;  ///< NaN, infinities, the least and the greatest numbers among the values
};

/// The blocks of one server, or of one group of it.
class Views {
 public:
  /// Server `server` of `servers` has every so many-th block.
  Views(const Metadata& metadata, const Selection& selection, const Case& how, int server, int servers);
  [[nodiscard]] const std::vector<std::vector<BlockView>>& blocks() const noexcept { return views_; }
  /// What `local` of that server, or `write`, gets. Points to all that is given.
  [[nodiscard]] LocalInput input(const Iteration& iteration, const Metadata& metadata, int pass, BytesView feedback,
                                 const Catalogue* catalogue) const {
    return {iteration, metadata, views_, pass, feedback, catalogue, entries_, server_, servers_};
  }

 private:
  void add_variable(const Metadata& metadata, const Selected& selected, const Case& how);
  void add_points(const Metadata& metadata, const Variable& variable, const Case& how);
  /// Where there are flags, all views of their block know them.
  void flag_ghosts(const Metadata& metadata);
  void add_piece(const Metadata& metadata, const Selected& selected, const Case& how);
  void add_halo(BlockView& view, const Mesh& mesh, const Variable& variable, const Selected& selected,
                const std::vector<std::vector<Box>>& owned, const Case& how);
  ArrayView array(const Variable& variable, const Box& box, const std::vector<PeriodicImage>& right, const Case& how);
  int server_, servers_;
  std::deque<Bytes> memory_;
  std::vector<std::vector<BlockView>> views_;
  std::deque<std::vector<BlockView>> pieces_;  ///< of decompositions, by entry
  std::vector<EntryViews> entries_;
};

/// The blocks of a mesh of points.
[[nodiscard]] std::vector<Block> point_blocks(const Mesh& mesh, const Case& how);

/// Why there is no sample for these meshes; empty if there is one.
[[nodiscard]] std::string unsuitable(const Metadata& metadata);

/// All blocks, as catalogues list them.
[[nodiscard]] Catalogue catalogue_of(const Metadata& metadata, const Case& how);

/// What a task gets to see of all blocks: nothing, or what its selection asks for.
[[nodiscard]] Catalogue catalogue_for(const Metadata& metadata, const Selection& selection, const Case& how);

}  // namespace sidestream::conformance
