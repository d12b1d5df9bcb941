// The build without ADIOS2.
#include "transport/staging/bulk.hpp"

namespace sidestream::staging {

void add_sst_engine(std::map<std::string, BulkEngine>&) {}

}  // namespace sidestream::staging
