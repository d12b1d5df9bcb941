// One writer's part of a step, and the step that all parts make.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "transport/staging/format.hpp"
#include "transport/staging/step_ranges.hpp"
#include "transport/staging/stream_data_engine.hpp"
#include "transport/staging/writer.hpp"

namespace sidestream::staging {

struct Held;

class StepBuilder {
 public:
  StepBuilder() = default;
  StepBuilder(StepBuilder&&) = default;
  StepBuilder& operator=(StepBuilder&&) = default;
  /// `held` outlives this.
  StepBuilder(const Metadata& metadata, const std::vector<Held>& held, const StreamContext& context,
              const StepIndex& head, int rank);
  /// Adds the extremes of every component of every block. `blocks`: those of all writers; see StepRanges.
  void measure(StepRanges& ranges, std::span<const Block> blocks);
  /// The records for engines, which complete them.
  [[nodiscard]] std::span<Outgoing> outgoing() noexcept { return outgoing_; }
  /// The step with only this writer's records, for `merge_steps`. Called after the engine has completed them.
  [[nodiscard]] Bytes encode() const { return encode_step(step_); }

 private:
  const std::vector<Held>* held_ = nullptr;
  StepIndex step_;
  std::vector<Outgoing> outgoing_;  ///< points into step_
};

/// Joins `head` and the writers' parts to the index of a step. Blocks in several parts appear once.
[[nodiscard]] StepIndex merge_steps(const StepIndex& head, const std::vector<Bytes>& parts);

// Checks of a step's content: whoever can write into a stream's directory can write anything into a step.

/// Throws Error(file) unless every field of the step that anything is computed from agrees with the declarations of
/// the stream and with the other fields: ids are those of declared things, blocks lie in their mesh and are there once,
/// an array has the type, components and points that its variable has on its block, and as many bytes. What is only
/// shown or compared (cycle, time, clients, extremes) may be anything. `path` is for the sentence.
void check_step(const StepIndex& step, const Metadata& declared, const std::string& path);

}  // namespace sidestream::staging
