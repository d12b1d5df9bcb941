#include "commands.hpp"

#include "session/serving/attached_groups.hpp"

namespace sidestream {

int serve(const ServeOptions& options) {
  return run_group("serve", [&](MPI_Comm group, const std::function<bool()>& stop) {
    serve_sidecar(group, {options.file, options.wait, options.directory, stop});
  });
}

int endpoint(EndpointOptions options) {
  return run_group("endpoint", [&](MPI_Comm group, const std::function<bool()>& stop) {
    options.stop = stop;
    run_endpoint(group, options);
  });
}

}  // namespace sidestream
