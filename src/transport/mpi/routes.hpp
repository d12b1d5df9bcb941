// Who sends what to whom in placement `nodes`: the plan, as ranks of the common communicator.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sidestream::mpi {

/// A client's destinations. Fixed when the session starts; blocks declared later go to the first of `servers`.
struct Routes {
  std::vector<int> servers;  ///< every server that gets something of this client, ascending; at least one
  std::map<std::pair<std::int32_t, std::int64_t>, int> block_server;  ///< by mesh and block id

  [[nodiscard]] int server_of(std::int32_t mesh, std::int64_t block) const {
    const auto found = block_server.find({mesh, block});
    return found == block_server.end() ? servers.front() : found->second;
  }
};

}  // namespace sidestream::mpi
