// The output `bp` in builds without ADIOS2.
#include "sidestream/kit/base/fail.hpp"
#include "storage/writers/bp_options.hpp"

namespace sidestream {

void add_bp_writer(Registry& registry) {
  registry.add(bp_kind([](const Settings& settings, const Metadata&,
                          std::shared_ptr<const OutputDirectory>) -> std::unique_ptr<Task> {
    fail(
        Code::configuration,
        "{}: found the output 'bp', expected another one: this build has no ADIOS2; write 'hdf5', or build with ADIOS2",
        settings.where().text());
  }));
}

}  // namespace sidestream
