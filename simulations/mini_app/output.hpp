// Files written by the first rank.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <string>

#include "mini_app/user_error.hpp"

namespace mini_app {

/// Collective: calls `write(file)` on the first rank. An error is one on all ranks, with the option in its message.
template <class Write>
void write_file(MPI_Comm comm, const std::string& option, const std::string& file, const Write& write) {
  int rank = 0, good = 1;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    std::FILE* const out = std::fopen(file.c_str(), "wb");
    good = out != nullptr && write(out) ? 1 : 0;
    if (out != nullptr && std::fclose(out) != 0) good = 0;
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, comm);
  if (good == 0) {
    throw UserError(option + " " + file + ": the file cannot be written; name one in a writable directory.");
  }
}

}  // namespace mini_app
