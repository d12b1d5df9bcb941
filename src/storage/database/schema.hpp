// What a context says of itself, as JSON: meshes, variables, codecs.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"

namespace sidestream::database {

struct Schema {
  std::string provenance;
  std::uint64_t chunk = 0;  ///< bytes of values
  Metadata metadata;
  std::vector<std::vector<std::string>> codecs;  ///< by variable
};

[[nodiscard]] std::string schema_text(const Schema& schema);
/// Throws Error(file) with `where` in front.
[[nodiscard]] Schema read_schema(const std::string& text, const std::string& where);
/// The variables `kept` alone, with the meshes that they are on and those that these need; ids count anew. Arrays of
/// meshes that are not kept are no longer arrays of them.
[[nodiscard]] Metadata part_of(const Metadata& metadata, const std::vector<std::int32_t>& kept);

}  // namespace sidestream::database
