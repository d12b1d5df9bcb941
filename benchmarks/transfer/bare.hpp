// Plain MPI with the same blocks.
#pragma once

#include <mpi.h>

#include "case.hpp"

namespace transfer {

/// Collective over `comm`, whose ranks are those of the case. Returns the seconds per step of a stream from clients to
/// servers in plain MPI, the same on every rank. Each client copies a block to a staging buffer, as Sidestream does for
/// a simulation that continues, and sends it from there (MPI_Isend); it has two such buffers per block. Servers have
/// receives for two steps posted (MPI_Irecv) into buffers that they reuse. There are no requests, plans, agreements or
/// reports.
[[nodiscard]] double bare_stream(MPI_Comm comm, const Case& c);

}  // namespace transfer
