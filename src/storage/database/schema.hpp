// The description of a context, as JSON: meshes, variables, codecs.
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
  /// By variable: the further lists, if each chunk goes through one of several. The first list is in `codecs`. May be
  /// shorter than the number of variables.
  std::vector<std::vector<std::vector<std::string>>> other_codecs{};
  /// By variable, the relations that its values are encoded with. May be shorter than the number of variables.
  std::vector<VariableRelations> relations{};
  [[nodiscard]] VariableRelations relations_of(std::size_t variable) const {
    return variable < relations.size() ? relations[variable] : VariableRelations{};
  }
  /// By mesh, the time of each level from 0 on. Meshes that are not in it have the time of the context.
  std::map<std::int32_t, std::vector<double>> level_times{};
  bool pruned = false;  ///< trees are without what other blocks have
  /// All lists of a variable.
  [[nodiscard]] std::vector<std::vector<std::string>> lists_of(std::size_t variable) const {
    std::vector<std::vector<std::string>> lists{codecs.at(variable)};
    if (variable >= other_codecs.size()) return lists;
    lists.insert(lists.end(), other_codecs[variable].begin(), other_codecs[variable].end());
    return lists;
  }
};

/// The only name in the list of codecs of data on trees: packed flags, and values through the coder for values.
inline constexpr const char* tree_codec = "tree";

/// True if the flags of an octree are among the variables. Its values are cut by level then.
[[nodiscard]] bool has_trees(const Metadata& metadata);

[[nodiscard]] std::string schema_text(const Schema& schema);
/// Reads a description. Throws Error(file) with `where` in front.
[[nodiscard]] Schema read_schema(const std::string& text, const std::string& where);
/// Only the variables `kept` with their meshes, under new ids. An array of a mesh that is not kept
/// is no longer an array of that mesh.
[[nodiscard]] Metadata part_of(const Metadata& metadata, const std::vector<std::int32_t>& kept);

}  // namespace sidestream::database
