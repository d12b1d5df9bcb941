// The checks of `sidestream selftest`: small runs whose results are known, and what reads them back.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace sidestream::selftest {

/// One line of the report.
struct Check {
  enum class State { passed, failed, left_out } state = State::passed;
  std::string name;  ///< one word
  std::string text;  ///< what was found, or the reason
};

/// The report as text, and the exit status of the command: 1 if a check failed.
struct Report {
  std::string text;
  int status = 0;
};

/// Runs all checks. Collective over `comm`; the report is only complete on rank 0, the status is the same everywhere.
/// `parent`: the folder in which a folder for the files is made and removed again; all processes must see it. Throws
/// Error(system) on all if that is impossible.
[[nodiscard]] Report run_checks(MPI_Comm comm, const std::string& parent);

/// Makes a folder with a name of its own in `parent`. Throws Error(system).
[[nodiscard]] std::string make_folder(const std::string& parent);

/// Describes the MPI library, in a few words: "Open MPI v4.1.4". MPI need not be initialised.
[[nodiscard]] std::string mpi_library();

}  // namespace sidestream::selftest
