// The HDF5 file that shows the blocks of all servers as one array per variable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/hdf5/hdf5_layout.hpp"

namespace sidestream {

/// One server's file and what is in it.
struct ServerPart {
  std::string file;  ///< without directory; meaningless if there are no blocks
  int servers = 1;
  std::vector<std::int32_t> published;  ///< variables of which any block came, with points or without
  std::vector<StoredBlock> blocks;
};

[[nodiscard]] Bytes pack_part(const ServerPart& part);

/// Writes the file at `path` from what pack_part returned on the servers, whose files lie in the directory that it will
/// be in. Variables of which no block arrived are left out; lists none of whose blocks have entries are of length 0.
/// Blocks finer than level 0 are not shown: where there are only such, all points of level 0 are missing.
/// Throws Error(file).
void write_whole_file(const std::string& path, const std::string& provenance, const CombineInput& input,
                      const std::vector<std::int32_t>& variables, std::span<const double> level_times,
                      const std::vector<Bytes>& parts);

}  // namespace sidestream
