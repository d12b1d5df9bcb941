// Known fields on the meshes of a configuration, divided among blocks in any way, as tasks see them on servers.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "data/images.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream::conformance {

/// A division of the meshes and the treatment of values. Ghosts and shared nodes of other blocks hold wrong values,
/// which no task may use.
struct Case {
  std::string name;
  Index3 parts{1, 1, 1};    ///< blocks along each axis; more than cells make empty blocks
  int ghosts = 0;           ///< layers of invalid points around each array
  int groups = 1;           ///< number of times that `local` runs for each combining server, as with forwarders
  bool backwards = false;   ///< ids decrease with the position
  bool nothing = false;     ///< no block is delivered
  bool odd_values = false;  ///< NaN, infinities, and the smallest and largest numbers among the values
};

/// The blocks of one server, or of one group of it.
class Views {
 public:
  /// Server `server` of `servers` has every `servers`-th block.
  Views(const Metadata& metadata, const Selection& selection, const Case& how, int server, int servers);
  [[nodiscard]] const std::vector<std::vector<BlockView>>& blocks() const noexcept { return views_; }
  /// The argument of `local` or `write` on that server. Refers to all arguments.
  [[nodiscard]] LocalInput input(const Iteration& iteration, const Metadata& metadata, int pass, BytesView feedback,
                                 const Catalogue* catalogue) const {
    return {iteration, metadata, views_, pass, feedback, catalogue, entries_, server_, servers_};
  }

 private:
  void add_variable(const Metadata& metadata, const Selected& selected, const Case& how);
  void add_points(const Metadata& metadata, const Variable& variable, const Case& how);
  /// Adds flags to all views of a block, if there are flags.
  void flag_ghosts(const Metadata& metadata);
  void add_piece(const Metadata& metadata, const Selected& selected, const Case& how);
  void add_halo(BlockView& view, const Mesh& mesh, const Variable& variable, const Selected& selected,
                const std::vector<std::vector<Box>>& owned, const Case& how);
  ArrayView array(const Variable& variable, const Box& box, const std::vector<PeriodicImage>& right, const Case& how);
  int server_, servers_;
  std::deque<Bytes> memory_;
  std::vector<std::vector<BlockView>> views_;
  std::deque<std::vector<BlockView>> pieces_;  ///< pieces of decompositions, by entry
  std::vector<EntryViews> entries_;
};

/// The blocks of a mesh of points.
[[nodiscard]] std::vector<Block> point_blocks(const Mesh& mesh, const Case& how);

/// The reason why there is no sample for these meshes; empty if there is one.
[[nodiscard]] std::string unsuitable(const Metadata& metadata);

/// All blocks in the form of a catalogue.
[[nodiscard]] Catalogue catalogue_of(const Metadata& metadata, const Case& how);

/// The part of the catalogue that a task sees: nothing, or what its selection asks for.
[[nodiscard]] Catalogue catalogue_for(const Metadata& metadata, const Selection& selection, const Case& how);

}  // namespace sidestream::conformance
