// What MPI alone does with the same blocks.
#pragma once

#include <mpi.h>

#include "case.hpp"

namespace transfer {

/// Seconds per step of a stream of steps from clients to servers in plain MPI. Collective over `comm`, whose ranks are
/// those of the case; the same on every rank. Each client copies a block to a staging buffer, as Sidestream does for a
/// simulation that goes on, and sends it from there (MPI_Isend); it has two such buffers for each block. Servers have
/// receives for two steps posted (MPI_Irecv) into buffers that they use again. Nobody asks, plans, agrees or reports.
[[nodiscard]] double bare_stream(MPI_Comm comm, const Case& c);

}  // namespace transfer
