// Where `sidestream plan` learns what exists.
#pragma once

#include <string>

#include "config/options/document.hpp"
#include "storage/formats/metadata_file.hpp"

namespace sidestream {

/// A metadata file's content, or the blocks of `grid:64x64x64/2x2x2`. Of the latter the mesh has no geometry if
/// `document` declares a mesh of that name, otherwise unit spacing. Throws Error(usage) or Error(configuration).
[[nodiscard]] MetadataFile load_source(const std::string& text, const Document& document);

/// Gives blocks and ranges the ids of the configuration's meshes and variables instead of the source's. Throws
/// Error(configuration) if the sizes of a mesh disagree.
void use_ids_of(const Metadata& metadata, MetadataFile& source);

}  // namespace sidestream
