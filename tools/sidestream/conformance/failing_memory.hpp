// Memory that fails on purpose: the n-th allocation of a thread throws.
#pragma once

namespace sidestream::conformance {

/// While it lives, allocation number `after` (from 0) of this thread in this program, and in plug-ins that it loads,
/// throws std::bad_alloc; those after it succeed again.
class FailingMemory {
 public:
  explicit FailingMemory(long after) noexcept;
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  /// Whether one has failed.
  [[nodiscard]] bool failed() const noexcept;
};

}  // namespace sidestream::conformance
