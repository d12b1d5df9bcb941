// The HDF5 file that shows the blocks of all servers as one array per variable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sidestream/kit/storage/writers/agreed_forms.hpp"
#include "storage/hdf5/hdf5_layout.hpp"

namespace sidestream {

/// One server's file and its content.
struct ServerPart {
  std::string file;  ///< name without directory; meaningless if there are no blocks
  int servers = 1;
  std::vector<std::int32_t> published;  ///< variables with at least one block, even an empty one
  std::vector<StoredBlock> blocks;
};

[[nodiscard]] Bytes pack_part(const ServerPart& part);

/// Writes the file at `path` from the servers' results of pack_part; their files are in the same directory. Omits
/// variables without blocks; lists without entries have length 0. Blocks finer than level 0 are not shown; if there are
/// no others, all points of level 0 are missing. `forms`: as in the servers' files. Throws Error(file).
void write_whole_file(const std::string& path, const std::string& provenance, const CombineInput& input,
                      const std::vector<std::int32_t>& variables, const AgreedForms& forms,
                      std::span<const double> level_times, const std::vector<Bytes>& parts);

}  // namespace sidestream
