// Map of blocks to servers, given by the user.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// Servers by mesh and block id.
class ServerMap {
 public:
  /// Reads a file with a line `mesh block server` for each block. Lines may begin with `- `; empty lines and those that
  /// begin with # are ignored. Fails through settings, at the option `file`, with the line's number.
  static ServerMap from_file(const std::string& path, const Metadata& metadata, int servers, const Settings& settings);

  /// The server of a block, or -1 if the map does not name the block.
  [[nodiscard]] std::int32_t server_of(std::int32_t mesh, std::int64_t block) const noexcept;

 private:
  struct Entry {
    std::int32_t mesh = 0, server = 0;
    std::int64_t block = 0;
    std::int32_t line = 0;
  };
  std::vector<Entry> entries_;  ///< sorted by mesh and block
};

}  // namespace sidestream
