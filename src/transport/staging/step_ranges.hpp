// Extremes of the values that a writer of a stream has.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "data/leaf_contact.hpp"
#include "sidestream/data/metadata.hpp"
#include "transport/staging/format.hpp"

namespace sidestream::staging {

struct Held;

/// Measures blocks, and the cells of them that count. Which cells these are is computed once for each set of blocks.
class StepRanges {
 public:
  /// `metadata` must outlive it.
  explicit StepRanges(const Metadata& metadata) : metadata_(metadata) {}

  /// Adds the ranges of each component of `held` to the step. `blocks`: those of all writers; empty if no mesh has
  /// refinement levels.
  void measure(const std::vector<Held>& held, std::span<const Block> blocks, StepIndex& step);

 private:
  void note(const std::vector<Held>& held, std::span<const Block> blocks);
  [[nodiscard]] const CountedParts& parts_of(const Mesh& mesh, bool in_cells);
  void measure_parts(const Held& one, std::int32_t component, StepIndex& step);

  const Metadata& metadata_;
  std::vector<Block> blocks_;  ///< those of all writers
  /// Positions of those that this writer has, by mesh and id.
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> own_;
  BlockIndex index_;
  std::map<std::pair<std::int32_t, bool>, CountedParts> parts_;  ///< by mesh, and whether for variables in cells
};

}  // namespace sidestream::staging
