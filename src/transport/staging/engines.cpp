#include "transport/staging/stream_data_engine.hpp"

namespace sidestream::staging {

std::map<std::string, BulkEngine> bulk_engines() {
  std::map<std::string, BulkEngine> engines{{"files", files_engine()}};
  add_sst_engine(engines);
  return engines;
}

void check_engine(const Settings& settings, const std::string& engine) {
  if (engine == "auto" || bulk_engines().contains(engine)) return;
  settings.fail("engine", fmt::format("found the engine '{}', which this build of Sidestream does not have; write "
                                      "'engine: files', or build with ADIOS2",
                                      engine));
}

std::string best_engine() { return bulk_engines().contains("sst") ? "sst" : "files"; }

}  // namespace sidestream::staging
