// Metadata files: meshes, variables, blocks and optionally ranges, without values. docs/metadata.md specifies them.
#pragma once

#include <string>

#include "sidestream/data/catalogue.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// The content of a metadata file.
struct MetadataFile {
  Iteration iteration;
  Metadata metadata;
  Catalogue catalogue;
};

/// Formats the file. The same content gives the same bytes, and reading restores it exactly. Throws Error(file) for
/// kinds of meshes that configurations lack.
[[nodiscard]] std::string metadata_text(const MetadataFile& content);

/// Parses the text of the file `name`. Throws Error(configuration) with file:line:column.
[[nodiscard]] MetadataFile parse_metadata(const std::string& text, const std::string& name);

}  // namespace sidestream
