// One session of the fault sweep on every rank of a case.
#pragma once

#include <mpi.h>

#include <string>

#include "faults/case.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream::testing {

inline constexpr int steps = 5;
inline constexpr int fault_step = 2;  ///< whose stages `publish`, `end` and `iteration` are tried

/// How it ended on one rank. Travels between ranks as it is.
struct Ending {
  Account account{};
  int errors = 0;   ///< that calls threw
  int refused = 0;  ///< iterations that a call said are refused
  int closed = 0;   ///< 1: close returned an account
  int server = 0;
  std::array<long, stage_names.size()> allocations{};  ///< without a fault: in each stage
  long reached = -1;       ///< with one, where it is: allocations of its stage; -1: not begun
  char first[300] = "";    ///< the call and the sentence of the first error
  char escaped[300] = "";  ///< what was thrown that is no sidestream::Error, and where
};

/// Collective over `comm`, which has as many ranks as the case. `folder` is empty and this session's own.
[[nodiscard]] Ending run_session(MPI_Comm comm, const Case& one, const Fault& fault, const std::string& folder);

}  // namespace sidestream::testing
