// Simulated memory failure: the n-th allocation of a thread throws.
#pragma once

namespace sidestream::conformance {

/// During its lifetime, allocation number `after` (from 0) of this thread throws std::bad_alloc, in this program and in
/// plug-ins that it loads; later ones succeed again.
class FailingMemory {
 public:
  explicit FailingMemory(long after) noexcept;
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  /// True if an allocation has failed.
  [[nodiscard]] bool failed() const noexcept;
};

}  // namespace sidestream::conformance
