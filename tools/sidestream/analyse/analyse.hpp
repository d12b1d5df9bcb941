// `sidestream analyse`: the analyses of a configuration on files, after the run.
#pragma once

#include <string>
#include <vector>

#include "analyse/sources.hpp"

namespace sidestream {

struct AnalyseOptions {
  analysing::SourceOptions sources;
  std::string config;
  std::string directory;            ///< instead of output.directory; empty: that
  std::vector<std::string> values;  ///< NAME=VALUE
  std::string periodic;             ///< axes along which meshes go on at their other end: xyz
  bool outputs = true;              ///< those of the configuration too
};

/// Collective: all processes under mpirun. Returns the exit status.
[[nodiscard]] int analyse(const AnalyseOptions& options);

}  // namespace sidestream
