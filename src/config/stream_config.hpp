// A stream to another job: its options, under `placement.stream` and under `outputs:`.
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
  std::string group;   ///< the server group it is for; empty: all
  std::string engine;  ///< or "auto"
  std::map<std::string, std::string> parameters;
  WhenFull when_full = WhenFull::wait;
  double reader_limit = 60;  ///< seconds
  bool ranges = true;

  /// Path of its files.
  [[nodiscard]] std::string path() const { return directory + "/" + name + (group.empty() ? "" : "-" + group); }
};
/// Throws Error(configuration) through Settings::fail.
[[nodiscard]] StreamConfig read_stream(const Settings& settings, WhenFull when_full = WhenFull::wait);

/// One stream per group; without groups only `one`.
[[nodiscard]] std::vector<StreamConfig> streams_for(const StreamConfig& one, const std::vector<ServerGroup>& groups);
/// Placement `job`: the streams that leave the simulation, one per group of servers.
[[nodiscard]] std::vector<StreamConfig> streams_of(const PlacementConfig& placement);

}  // namespace sidestream
