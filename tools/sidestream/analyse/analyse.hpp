// `sidestream analyse`: the analyses of a configuration on files, after the run.
#pragma once

#include <string>
#include <vector>

#include "analyse/sources.hpp"

namespace sidestream {

struct AnalyseOptions {
  analysing::SourceOptions sources;
  std::string config;
  std::string directory;            ///< overrides output.directory if not empty
  std::vector<std::string> values;  ///< NAME=VALUE
  std::string periodic;             ///< periodic axes: xyz
  bool outputs = true;              ///< true if the outputs of the configuration run, too
};

/// Collective over all processes under mpirun. Returns the exit status.
[[nodiscard]] int analyse(const AnalyseOptions& options);

}  // namespace sidestream
