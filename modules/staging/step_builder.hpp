// One writer's part of a step, the extremes of its values, and merging of the parts.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/stream.hpp"
#include "sidestream/kit/data/leaf_contact.hpp"
#include "staging/format.hpp"
#include "staging/stream_data_engine.hpp"

namespace sidestream::staging {

struct Held;

/// Measures blocks, and their cells that count. These cells are determined once for each set of blocks.
class StepRanges {
 public:
  /// `metadata` must outlive this object.
  explicit StepRanges(const Metadata& metadata) : metadata_(metadata) {}

  /// Adds the ranges of each component of `held` to the step. `blocks`: blocks of all writers; empty if no mesh has
  /// refinement levels.
  void measure(const std::vector<Held>& held, std::span<const Block> blocks, StepIndex& step);

 private:
  void note(const std::vector<Held>& held, std::span<const Block> blocks);
  [[nodiscard]] const CountedParts& parts_of(const Mesh& mesh, bool in_cells);
  void measure_parts(const Held& one, std::int32_t component, StepIndex& step);

  const Metadata& metadata_;
  std::vector<Block> blocks_;  ///< blocks of all writers
  /// Positions of this writer's blocks, by mesh and id.
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> own_;
  BlockIndex index_;
  std::map<std::pair<std::int32_t, bool>, CountedParts> parts_;  ///< by mesh, and true for variables in cells
};

struct Held;

/// One writer's part of a step.
class StepBuilder {
 public:
  StepBuilder() = default;
  StepBuilder(StepBuilder&&) = default;
  StepBuilder& operator=(StepBuilder&&) = default;
  /// `held` must outlive this object.
  StepBuilder(const Metadata& metadata, const std::vector<Held>& held, const StreamContext& context,
              const StepIndex& head, int rank);
  /// Adds the extremes of every component of every block. `blocks`: blocks of all writers; see StepRanges.
  void measure(StepRanges& ranges, std::span<const Block> blocks);
  /// The records for the engine, which completes them.
  [[nodiscard]] std::span<Outgoing> outgoing() noexcept { return outgoing_; }
  /// The step with only this writer's records, for `merge_steps`. Called after the engine has completed them.
  [[nodiscard]] Bytes encode() const { return encode_step(step_); }

 private:
  const std::vector<Held>* held_ = nullptr;
  StepIndex step_;
  std::vector<Outgoing> outgoing_;  ///< points into step_
};

/// Merges `head` and the writers' parts into the index of a step. Blocks in several parts appear once.
[[nodiscard]] StepIndex merge_steps(const StepIndex& head, const std::vector<Bytes>& parts);

// Checks of a step's content: a process that can write into a stream's directory can write anything into a step.

/// Throws Error(file) unless every field of the step that computations use agrees with the stream's declarations and
/// with the other fields. Ids are those of declared objects; blocks lie in their mesh and occur once; an array has the
/// type, components and points that its variable has on its block, and the matching number of bytes. Fields that are
/// only shown or compared (cycle, time, clients, extremes) may hold anything. `path` is for the message.
void check_step(const StepIndex& step, const Metadata& declared, const std::string& path);

}  // namespace sidestream::staging
