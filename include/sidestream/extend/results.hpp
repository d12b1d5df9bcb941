// The contract of the receiver of analyses' results.
#pragma once

#include <cstdint>
#include <string>

#include "sidestream/data/result.hpp"
#include "sidestream/data/surface_stream.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Receives results from `combine`. `file` is a file option's value; its ending chooses the format. If the pattern of a
/// table names no iteration, its rows are appended to one file, after the columns iteration, cycle and time. Each other
/// result is one file, with a series index next to it. Files appear whole or not at all. Throws Error(file).
class Results {
 public:
  virtual ~Results() = default;
  // These add a result that one server has as a whole. Only the result of rank 0 of the communicator is kept.
  virtual void add(const std::string& file, const Table& table) = 0;
  virtual void add(const std::string& file, const Image& image) = 0;
  virtual void add(const std::string& file, const Surface& surface) = 0;
  virtual void add(const std::string& file, const CellSet& cells) = 0;
  virtual void add(const std::string& file, const DataSet& data) = 0;
  /// Adds a surface that is not all in memory; the base class collects it first.
  virtual void add_stream(const std::string& file, const SurfaceStream& surface);

  // The following functions add a result of which all servers have a part. They are collective over `servers`, the
  // communicator of CombineInput, and throw on all servers or on none. In pieces, every server writes a file, and rank
  // 0 writes a list of them; in the order of ranks, the pieces hold the content of one whole file. Otherwise rank 0
  // gathers the parts, as these functions of the base class do.
  /// Rows are concatenated in the order of ranks. A table whose rows are appended is never in pieces.
  virtual void add_parts(const std::string& file, const Table& mine, Communicator& servers, Pieces how);
  /// Points and triangles are concatenated in the order of ranks.
  virtual void add_parts(const std::string& file, const Surface& mine, Communicator& servers, Pieces how);
  /// Points and cells are concatenated in the order of ranks. A point shared by the cells of several servers is in each
  /// part.
  virtual void add_parts(const std::string& file, const CellSet& mine, Communicator& servers, Pieces how);
  /// All servers give the same arrays; `start` and `size` place each part in the whole. Together the parts fill the
  /// arrays, without overlap.
  virtual void add_parts(const std::string& file, const DataSet& mine, Communicator& servers, Pieces how);
  /// Adds the parts like those of a Surface.
  virtual void add_stream_parts(const std::string& file, const SurfaceStream& mine, Communicator& servers, Pieces how);
};

/// True if a result that takes `bytes` on this server and more on others should be written in pieces. Collective unless
/// `how` decides.
[[nodiscard]] bool in_pieces(Pieces how, std::uint64_t bytes, Communicator& servers);

}  // namespace sidestream
