// What one writer contributes to a step, and the whole made from all contributions.
#pragma once

#include <vector>

#include "sidestream/data/metadata.hpp"
#include "transport/staging/context.hpp"
#include "transport/staging/format.hpp"
#include "transport/staging/stream_data_engine.hpp"

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
  /// Adds the extremes of every component of every block.
  void measure();
  /// What engines send; filled in by them.
  [[nodiscard]] std::span<Outgoing> outgoing() noexcept { return outgoing_; }
  /// For `merge_steps`, after the engine has filled in what it knows: a step of this writer's alone.
  [[nodiscard]] Bytes encode() const { return encode_step(step_); }

 private:
  const std::vector<Held>* held_ = nullptr;
  StepIndex step_;
  std::vector<Outgoing> outgoing_;  ///< points into step_
};

/// The index of a step: `head`, and everything that the writers' parts hold. A block that several name is in it once.
[[nodiscard]] StepIndex merge_steps(const StepIndex& head, const std::vector<Bytes>& parts);

}  // namespace sidestream::staging
