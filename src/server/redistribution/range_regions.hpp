// The parts of a server's blocks whose ranges are measured on refinement levels and trees.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "server/redistribution/block_table.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/kit/data/leaf_contact.hpp"

namespace sidestream {

/// Regions of the blocks of one server's clients. Unlike clients, servers know which cells count and which other blocks
/// touch them. Regions are computed once for each set of blocks.
class RangeRegions {
 public:
  /// `metadata` must outlive this object.
  RangeRegions(const Metadata& metadata, int server) : metadata_(metadata), server_(server) {}

  /// Returns the blocks that have a variable, and the number of that set: a missing block covers nothing.
  using TableOf = std::function<std::pair<std::size_t, const BlockTable*>(std::int32_t variable)>;
  struct Request {
    RangeRequest of;
    bool rims = false;  ///< true: also cells that touch other blocks
  };
  /// The regions for some requests. Empty for meshes that have one level and are no trees.
  [[nodiscard]] std::vector<RangeRegion> of(std::span<const Request> requests, const TableOf& table_of);
  /// Forgets everything, after blocks or the set of missing blocks have changed.
  void reset() noexcept { known_.clear(); }

 private:
  [[nodiscard]] const CountedParts& parts_of(const Mesh& mesh, std::size_t set, const BlockTable& table, bool in_cells);
  void add_leaves(const Mesh& mesh, const RangeRequest& request, const BlockTable& table,
                  std::vector<RangeRegion>& regions) const;

  const Metadata& metadata_;
  int server_ = 0;
  /// Keys: mesh, set of missing blocks, true for variables in cells.
  std::map<std::tuple<std::int32_t, std::size_t, bool>, CountedParts> known_;
};

/// The measured ranges of regions, one for each pair of a block and the block next to it.
[[nodiscard]] std::vector<CountedRange> counted_ranges(std::span<const RangeRegion> regions,
                                                       std::span<const Range> ranges);

}  // namespace sidestream
