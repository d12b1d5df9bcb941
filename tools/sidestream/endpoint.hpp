// `sidestream endpoint`: runs the analyses of a configuration in a job of its own.
#pragma once

#include "session/serving/endpoint_group.hpp"

namespace sidestream {

/// Between MPI_Init and MPI_Finalize, which it calls; returns the exit status.
int endpoint(EndpointOptions options);

}  // namespace sidestream
