// The system's information about a process.
#pragma once

#include <cstdint>

namespace sidestream {

struct ProcessStatus {
  char state = 0;           ///< as in /proc/PID/stat: R, S, T, Z and so on; 0: there is no such process
  std::uint64_t start = 0;  ///< ticks since boot; distinguishes it from other processes that had or get its number
};
[[nodiscard]] ProcessStatus process_status(int pid) noexcept;

}  // namespace sidestream
