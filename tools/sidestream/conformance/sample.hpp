// Known fields on the meshes of a configuration, divided among blocks in any way, as tasks would see them on servers.
#pragma once

#include <deque>
#include <string>
#include <vector>

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

 private:
  void add_variable(const Metadata& metadata, const Variable& variable, int halo, const Case& how, int server,
                    int servers);
  ArrayView array(const Variable& variable, const Box& box, const std::vector<Box>& right, const Case& how);
  std::deque<Bytes> memory_;
  std::vector<std::vector<BlockView>> views_;
};

/// Why there is no sample for these meshes; empty if there is one.
[[nodiscard]] std::string unsuitable(const Metadata& metadata);

/// All blocks, as catalogues list them.
[[nodiscard]] Catalogue catalogue_of(const Metadata& metadata, const Case& how);

/// What a task gets to see of all blocks: nothing, or what its selection asks for.
[[nodiscard]] Catalogue catalogue_for(const Metadata& metadata, const Selection& selection, const Case& how);

}  // namespace sidestream::conformance
