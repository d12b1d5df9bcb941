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

/// The mesh that a result becomes for further tasks (the option `makes`), and its variables.
struct ResultMesh {
  /// Uniform, unstructured or points, without a name and an id. A data set fills a uniform mesh, a surface or a set of
  /// cells fills an unstructured one. The columns x, y and z of a table, or the points of a surface, are points.
  Mesh mesh;
  /// Without ids; each has the name of the array or column of the result whose values it gets.
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
  /// False: `combine` needs exactly one partial on each server, or reads the blocks of `local`. Placements in which a
  /// server may get any number of partials, and no blocks (`forward: partials`), are refused at the start.
  bool any_partials = true;
  /// True for settings with which `any_partials` is false although the kind's is true; empty: for none.
  std::function<bool(const Settings&)> needs_blocks{};
  /// The mesh that its result becomes with `makes`. Called after the settings were read, also before `create`; may
  /// throw like it. Empty: the mesh and its variables have to be declared in the configuration.
  std::function<ResultMesh(const Settings&, const Metadata&)> result_mesh{};

  [[nodiscard]] bool takes_any_partials(const Settings& settings) const {
    return any_partials && !(needs_blocks && needs_blocks(settings));
  }
};

}  // namespace sidestream
