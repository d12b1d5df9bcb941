// Results that are blocks of a mesh of any kind, for the tasks that use the mesh (`makes`).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream {

/// A block with values; no file holds it.
struct ResultBlock {
  Block block;  ///< its id, unique over all servers, and its level, cells and lengths
  struct Array {
    std::string name;  ///< name of the variable in ResultMesh, without the mesh's name; of an array: of the role
    std::vector<std::byte> values;  ///< contiguous over the block's points, of the variable's type and order
  };
  std::vector<Array> arrays{};
};

/// Implemented next to Results for an analysis that makes a mesh.
class BlockResults {
 public:
  virtual ~BlockResults() = default;
  /// Hands this server's blocks to the tasks that use the mesh, which run once for each call. All servers make the same
  /// calls. `about`: attributes of this result for files, besides those of the variables.
  virtual void add_blocks(std::vector<ResultBlock> mine, std::vector<Attribute> about) = 0;
};

/// Implemented next to Task by analyses that produce BlockResults in some iterations. Variables in their ResultMesh
/// that have a role are arrays of the mesh. Tasks that use the mesh only run when there is a result.
class BlockMaker {
 public:
  virtual ~BlockMaker() = default;
};

}  // namespace sidestream
