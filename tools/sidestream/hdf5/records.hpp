// Records of the files and writes of a program, which libsidestream-hdf5.so made (SIDESTREAM_HDF5_RECORD).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sidestream {

/// A dataset, with all writes of all processes.
struct RecordedDataset {
  std::string path, type;                       ///< `path.member` for a member of a compound type
  std::string stored;                           ///< the type in the file; empty: none of Sidestream's
  std::vector<std::int64_t> size;               ///< in the end, the slowest axis first
  bool endless = false;                         ///< the first axis may grow without limit
  std::set<std::string> files;                  ///< without folders
  std::set<std::int64_t> first_indices;         ///< that writes began at, along the first axis
  bool single_indices = true;                   ///< each write filled one index of the first axis
  bool grows = false;                           ///< the first axis became longer in a file
  std::map<std::string, std::int64_t> lengths;  ///< of the first axis, by file
  std::size_t most_boxes = 0;                   ///< in one write
  std::set<std::vector<std::int64_t>> boxes;    ///< start and count
  std::int64_t writes = 0;
  std::string why;  ///< why a write cannot be published; empty: all can
};

struct HdfRecords {
  std::vector<std::string> files;  ///< that were open for writing, without folders, in their order, each once
  std::map<std::string, RecordedDataset> datasets;  ///< by path
  int processes = 0;
};

/// Reads all records of a folder. Throws Error(usage) if there are none, Error(file) if one cannot be read.
[[nodiscard]] HdfRecords read_records(const std::string& folder);

}  // namespace sidestream
