#include "serve.hpp"

#include "group_command.hpp"
#include "session/serving/sidecar_group.hpp"

namespace sidestream {

int serve(const ServeOptions& options) {
  return run_group("serve", [&](MPI_Comm group, const std::function<bool()>& stop) {
    serve_sidecar(group, {options.file, options.wait, options.directory, stop});
  });
}

}  // namespace sidestream
