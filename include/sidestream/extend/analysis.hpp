// Kinds of analyses: tasks that reduce values to results.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// The mesh into which the option `makes` turns a result for further tasks, and its variables.
struct ResultMesh {
  /// A uniform mesh, an unstructured mesh or points, without a name and an id. A data set fills a uniform mesh; a
  /// surface or a set of cells fills an unstructured one. The columns x, y and z of a table, or the points of a
  /// surface, become points.
  Mesh mesh;
  /// The variables, without ids. Each has the name of the array or column of the result from which it gets its values.
  std::vector<Variable> variables;
};

/// A registered kind of analysis: its name and options in the configuration, and how to make one.
struct AnalysisKind {
  std::string name;
  std::string text;             ///< for the reference manual
  std::vector<Option> options;  ///< in addition to those of every analysis (every, start, end, on, name)
  /// Makes the task. May throw Error(configuration) through Settings::fail. Called with the frozen declarations; never
  /// communicates.
  std::function<std::unique_ptr<Task>(const Settings&, const Metadata&)> create;
  /// False if `combine` needs exactly one partial on each server, or reads the blocks of `local`. Placements in which a
  /// server may get any number of partials, and no blocks (`forward: partials`), are then refused at the start.
  bool any_partials = true;
  /// Returns true for settings with which `any_partials` counts as false, although the kind's is true; empty: for none.
  std::function<bool(const Settings&)> needs_blocks{};
  /// Returns the mesh that the result becomes with `makes`. Called after the settings were read, also before `create`;
  /// may throw like it. Empty: the configuration must declare the mesh and its variables.
  std::function<ResultMesh(const Settings&, const Metadata&)> result_mesh{};

  [[nodiscard]] bool takes_any_partials(const Settings& settings) const {
    return any_partials && !(needs_blocks && needs_blocks(settings));
  }
};

}  // namespace sidestream
