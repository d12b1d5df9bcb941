// Files that say what exists and where: meshes, variables, blocks and perhaps ranges, without values. docs/metadata.md
// specifies them.
#pragma once

#include <string>

#include "sidestream/data/catalogue.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// What such a file holds.
struct MetadataFile {
  Iteration iteration;
  Metadata metadata;
  Catalogue catalogue;
};

/// The file's text. The same content gives the same bytes; reading it gives the content back, numbers exactly. Throws
/// Error(file) for meshes of other kinds than those of configurations.
[[nodiscard]] std::string metadata_text(const MetadataFile& content);

/// Reads the text of the file `name`. Throws Error(configuration) with file:line:column.
[[nodiscard]] MetadataFile parse_metadata(const std::string& text, const std::string& name);

}  // namespace sidestream
