// How much memory this process may still take before the kernel starts killing.
#pragma once

#include <cstdint>
#include <string>

namespace sidestream::shared_memory {

struct MemoryLeft {
  std::uint64_t bytes = UINT64_MAX;  ///< UINT64_MAX: nothing known
  std::string source;                ///< what sets it: "the machine" or the control group's file
};

/// The smaller of the machine's available memory (MemAvailable) and what the control groups of this process, version 1
/// or 2, have left, where page cache of files counts as free. `root` is put before /proc and /sys; for tests.
[[nodiscard]] MemoryLeft memory_left(const std::string& root = "");

}  // namespace sidestream::shared_memory
