// Engine `sst` in builds without ADIOS2.
#include "staging/stream_data_engine.hpp"

namespace sidestream::staging {

void add_sst_engine(std::map<std::string, BulkEngine>&) {}

}  // namespace sidestream::staging
