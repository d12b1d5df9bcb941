#include "transport/staging/bulk.hpp"

namespace sidestream::staging {

std::map<std::string, BulkEngine> bulk_engines() {
  std::map<std::string, BulkEngine> engines{{"files", files_engine()}};
  add_sst_engine(engines);
  return engines;
}

std::string best_engine() { return bulk_engines().contains("sst") ? "sst" : "files"; }

}  // namespace sidestream::staging
