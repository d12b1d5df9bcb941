// A stream to another job: its options, as they stand under `placement.stream` and under `outputs:`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

[[nodiscard]] std::vector<Option> stream_options();

/// The values of those options.
struct StreamConfig {
  std::string name, directory;
  std::string group;   ///< of servers that it is for; empty: for all
  std::string engine;  ///< or "auto"
  std::map<std::string, std::string> parameters;
  WhenFull when_full = WhenFull::wait;
  double reader_limit = 60;  ///< seconds
  bool ranges = true;

  /// Where its files are.
  [[nodiscard]] std::string path() const { return directory + "/" + name + (group.empty() ? "" : "-" + group); }
};
/// Throws Error(configuration) through Settings::fail.
[[nodiscard]] StreamConfig read_stream(const Settings& settings, WhenFull when_full = WhenFull::wait);

/// Placement `job`: those that leave the simulation, one for each group of servers.
[[nodiscard]] std::vector<StreamConfig> streams_of(const PlacementConfig& placement);

}  // namespace sidestream
