// Analyses whose results are meshes with variables for later tasks: `makes: NAME`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/options/document.hpp"

namespace sidestream {

/// Marks the meshes of the configuration and of the program that analyses of the file make.
void mark_made_meshes(const Document& document, Metadata& metadata);

/// The options of a task as they are to be read. An analysis that makes a mesh gives its result whole, since points
/// between the pieces of a file are in both.
[[nodiscard]] Node made_whole(const Node& task, const std::vector<Option>& options);

/// If the last of the tasks makes a mesh, sets TaskConfig::makes. A mesh that is not declared is added to `metadata`,
/// with the variables that the kind announces, as NAME_ARRAY. Throws Error(configuration).
void declare_made_mesh(std::vector<TaskConfig>& tasks, const Registry& registry, Metadata& metadata);

/// Sets TaskConfig::uses. Throws Error(configuration) if the task uses variables of several sources (the simulation and
/// each mesh that is made), or of a mesh that none of the tasks `above` makes.
void find_source(TaskConfig& task, std::span<const TaskConfig> above, const Registry& registry,
                 const Metadata& metadata);

/// Tasks that use a made mesh run on the servers that make it. Throws Error(configuration) if one names another group.
void join_groups_of_made(std::vector<TaskConfig>& tasks, const std::vector<ServerGroup>& groups);

/// The result's array that fills `variable` of a made mesh: the variable's name without NAME_.
[[nodiscard]] std::string array_of(const Variable& variable, const Mesh& mesh);

}  // namespace sidestream
