// One session of the fault sweep on every rank of a case.
#pragma once

#include <mpi.h>

#include <string>

#include "faults/case.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream::testing {

inline constexpr int steps = 5;
inline constexpr int fault_step = 2;  ///< the iteration whose stages `publish`, `end` and `iteration` are tried

/// The outcome on one rank. Trivially copyable; sent between ranks.
struct Ending {
  Account account{};
  int errors = 0;   ///< number that calls threw
  int refused = 0;  ///< number of iterations that calls reported as refused
  int closed = 0;   ///< 1 if close returned an account
  int server = 0;
  std::array<long, stage_names.size()> allocations{};  ///< number in each stage, without a fault
  long reached = -1;       ///< allocations in the stage of the fault, or -1 if it has not begun
  char first[300] = "";    ///< the call and the sentence of the first error
  char escaped[300] = "";  ///< an exception other than sidestream::Error, and its origin
};

/// Runs a session; collective over `comm`, which has as many ranks as the case. `folder` is empty, and only this
/// session uses it.
[[nodiscard]] Ending run_session(MPI_Comm comm, const Case& one, const Fault& fault, const std::string& folder);

}  // namespace sidestream::testing
