// Waiting for MPI without keeping a core busy.
#pragma once

#include <mpi.h>
#include <functional>

namespace sidestream {

/// Throws Error(system) with MPI's own text if `code` is not MPI_SUCCESS; `call` names the function.
void check_mpi(int code, const char* call);

/// Asks `done` until it is true, at growing intervals, sleeping in between (at most 100 µs). `meanwhile`, if set, is
/// called in between; its exceptions are thrown when the wait is over.
void polite_poll(const std::function<bool()>& done, const std::function<void()>& meanwhile = {});

/// Waits for `request`, testing at growing intervals and sleeping in between (at most 100 µs). A waiting server thus
/// leaves its core to others. `meanwhile`, if set, is called between tests.
void polite_wait(MPI_Request& request, const std::function<void()>& meanwhile = {});

}  // namespace sidestream
