// Parts of `sidestream plan`: the metadata that it reads, and its report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/options/document.hpp"
#include "storage/formats/metadata_file.hpp"

namespace sidestream {

/// Reads a metadata file, or generates the blocks of `grid:64x64x64/2x2x2`. The latter's mesh has no geometry if
/// `document` declares a mesh of that name, otherwise unit spacing. Throws Error(usage) or Error(configuration).
[[nodiscard]] MetadataFile load_source(const std::string& text, const Document& document);

/// Replaces ids of the source's meshes and variables in blocks and ranges by those of the configuration. Throws
/// Error(configuration) if the sizes of a mesh differ.
void use_ids_of(const Metadata& metadata, MetadataFile& source);

// Report of `sidestream plan`.

/// Number of blocks, and bytes of their values.
struct Amount {
  std::int64_t blocks = 0;
  std::uint64_t bytes = 0;
};

struct PlanReport {
  struct Task {
    std::string name;
    Amount needed;
    bool halo = false;
    bool pieces = false;    ///< true if it wants a decomposition of its own
    std::string unknown{};  ///< unknown ranges that it depends on, so that all of its blocks are needed
  };
  std::string file, partitioner;
  std::int64_t blocks = 0;      ///< number of non-empty blocks
  Amount readable;              ///< blocks with variables that any task reads
  std::vector<Task> tasks;      ///< each by itself
  Amount needed;                ///< by any task, after the partitioner's restriction
  std::int64_t restricted = 0;  ///< needed blocks that the partitioner leaves out
  std::string unknown{};        ///< unknown ranges that the partitioner depends on, so that it leaves nothing out
  std::int64_t split = 0;       ///< blocks that several servers get parts of
  std::int64_t moved = 0;       ///< blocks with at least one piece
  std::vector<Amount> servers;  ///< pieces and bytes of each server
};

[[nodiscard]] std::string text_of(const PlanReport& report, bool table);

}  // namespace sidestream
