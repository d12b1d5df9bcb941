#include "endpoint.hpp"

#include "group_command.hpp"

namespace sidestream {

int endpoint(EndpointOptions options) {
  return run_group("endpoint", [&](MPI_Comm group, const std::function<bool()>& stop) {
    options.stop = stop;
    run_endpoint(group, options);
  });
}

}  // namespace sidestream
