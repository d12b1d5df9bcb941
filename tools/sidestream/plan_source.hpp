// Metadata for `sidestream plan`.
#pragma once

#include <string>

#include "config/options/document.hpp"
#include "storage/formats/metadata_file.hpp"

namespace sidestream {

/// Reads a metadata file, or generates the blocks of `grid:64x64x64/2x2x2`. The latter's mesh has no geometry if
/// `document` declares a mesh of that name, otherwise unit spacing. Throws Error(usage) or Error(configuration).
[[nodiscard]] MetadataFile load_source(const std::string& text, const Document& document);

/// Replaces ids of the source's meshes and variables in blocks and ranges by those of the configuration. Throws
/// Error(configuration) if the sizes of a mesh differ.
void use_ids_of(const Metadata& metadata, MetadataFile& source);

}  // namespace sidestream
