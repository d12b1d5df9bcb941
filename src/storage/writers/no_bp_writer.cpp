// The build without ADIOS2.
#include "storage/writers/kinds.hpp"

namespace sidestream {

void add_bp_writer(Registry&) {}

}  // namespace sidestream
