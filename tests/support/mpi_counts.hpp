// Counts of this process' calls of MPI, through MPI's profiling interface (mpi_counts.cpp).
#pragma once

#include <cstdint>

namespace sidestream::testing {

struct MpiCounts {
  std::int64_t sent = 0, received = 0;              ///< messages between two processes
  std::int64_t bytes_sent = 0, bytes_received = 0;  ///< in these
  std::int64_t collectives = 0;                     ///< reductions, broadcasts and barriers
  std::int64_t bytes_reduced = 0;                   ///< in these, each counted once
  std::int64_t fans = 0;           ///< messages of calls in which one process, or each of them, sends to all others
  std::int64_t communicators = 0;  ///< communicators that were made, at a cost that depends on MPI

  MpiCounts operator-(const MpiCounts& before) const {
    return {sent - before.sent,
            received - before.received,
            bytes_sent - before.bytes_sent,
            bytes_received - before.bytes_received,
            collectives - before.collectives,
            bytes_reduced - before.bytes_reduced,
            fans - before.fans,
            communicators - before.communicators};
  }
};

/// The counts since the program began.
[[nodiscard]] MpiCounts mpi_counts();

}  // namespace sidestream::testing
