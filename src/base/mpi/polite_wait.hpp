// Waiting for MPI without keeping a core busy.
#pragma once

#include <mpi.h>

#include <functional>

namespace sidestream {

/// Throws Error(system) with MPI's own text if `code` is not MPI_SUCCESS; `call` names the function.
void check_mpi(int code, const char* call);

/// Asks `done` until it is true, ever more rarely, sleeping in between (at most 100 µs). What `meanwhile`, which is
/// called in between if it is set, throws is thrown when the wait is over.
void polite_poll(const std::function<bool()>& done, const std::function<void()>& meanwhile = {});

/// Waits for `request`, testing ever more rarely and sleeping in between (at most 100 µs), so that a server that waits
/// leaves its core to others. `meanwhile`, if set, is called between tests.
void polite_wait(MPI_Request& request, const std::function<void()>& meanwhile = {});

}  // namespace sidestream
