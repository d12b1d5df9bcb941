// The output `bp` in builds without ADIOS2.
#include "bp/bp_options.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

WriterKind bp_writer() {
  return bp_kind([](const Settings& settings, const Metadata&,
                    std::shared_ptr<const OutputDirectory>) -> std::unique_ptr<Task> {
    fail(
        Code::configuration,
        "{}: found the output 'bp', expected another one: this build has no ADIOS2; write 'hdf5', or build with ADIOS2",
        settings.where().text());
  });
}

}  // namespace sidestream
