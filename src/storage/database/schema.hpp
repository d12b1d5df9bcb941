// What a context says of itself, as JSON: meshes, variables, codecs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/relation_text.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream::database {

struct Schema {
  std::string provenance;
  std::uint64_t chunk = 0;  ///< bytes of values
  Metadata metadata;
  std::vector<std::vector<std::string>> codecs;  ///< by variable
  /// By variable: more lists, where each chunk goes through one of several; the first is that in `codecs`. May be
  /// shorter than there are variables.
  std::vector<std::vector<std::vector<std::string>>> other_codecs{};
  /// By variable, what its values are coded with; may be shorter than there are variables.
  std::vector<VariableRelations> relations{};
  [[nodiscard]] VariableRelations relations_of(std::size_t variable) const {
    return variable < relations.size() ? relations[variable] : VariableRelations{};
  }
  /// By mesh, of those whose levels have times of their own: that of each level, from 0 on; of others the context's.
  std::map<std::int32_t, std::vector<double>> level_times{};
  bool pruned = false;  ///< trees are without what other blocks have
  /// All of a variable.
  [[nodiscard]] std::vector<std::vector<std::string>> lists_of(std::size_t variable) const {
    std::vector<std::vector<std::string>> lists{codecs.at(variable)};
    if (variable >= other_codecs.size()) return lists;
    lists.insert(lists.end(), other_codecs[variable].begin(), other_codecs[variable].end());
    return lists;
  }
};

/// What stands in a list of codecs, alone, for what is of trees: packed flags, and values through the coder of values.
inline constexpr const char* tree_codec = "tree";

/// Whether there is an octree whose flags are among the variables: its values are cut by level.
[[nodiscard]] bool has_trees(const Metadata& metadata);

[[nodiscard]] std::string schema_text(const Schema& schema);
/// Throws Error(file) with `where` in front.
[[nodiscard]] Schema read_schema(const std::string& text, const std::string& where);
/// The variables `kept` alone, with the meshes that they are on and those that these need; ids count anew. Arrays of
/// meshes that are not kept are no longer arrays of them.
[[nodiscard]] Metadata part_of(const Metadata& metadata, const std::vector<std::int32_t>& kept);

}  // namespace sidestream::database
