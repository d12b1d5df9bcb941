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
  /// Further lists by variable, if each chunk goes through one of several; the first list is in `codecs`. May be
  /// shorter than the number of variables.
  std::vector<std::vector<std::vector<std::string>>> other_codecs{};
  /// Relations by variable, for encoding its values. May be shorter than the number of variables.
  std::vector<VariableRelations> relations{};
  [[nodiscard]] VariableRelations relations_of(std::size_t variable) const {
    return variable < relations.size() ? relations[variable] : VariableRelations{};
  }
  /// Time of each level from 0 on, by mesh. Other meshes have the time of the context.
  std::map<std::int32_t, std::vector<double>> level_times{};
  bool pruned = false;  ///< true if trees lack what other blocks have
  /// All lists of a variable.
  [[nodiscard]] std::vector<std::vector<std::string>> lists_of(std::size_t variable) const {
    std::vector<std::vector<std::string>> lists{codecs.at(variable)};
    if (variable >= other_codecs.size()) return lists;
    lists.insert(lists.end(), other_codecs[variable].begin(), other_codecs[variable].end());
    return lists;
  }
};

/// The only codec name for data on trees: packed flags, and values through the coder for values.
inline constexpr const char* tree_codec = "tree";

/// True if the flags of an octree are among the variables; its values are then cut by level.
[[nodiscard]] bool has_trees(const Metadata& metadata);

[[nodiscard]] std::string schema_text(const Schema& schema);
/// Reads a description. Throws Error(file); messages begin with `where`.
[[nodiscard]] Schema read_schema(const std::string& text, const std::string& where);
/// Metadata of the variables `kept` and their meshes, under new ids. Meshes lose their references to arrays that are
/// not kept.
[[nodiscard]] Metadata part_of(const Metadata& metadata, const std::vector<std::int32_t>& kept);

}  // namespace sidestream::database
