// Translation of Ascent's actions.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "translate/ascent_expression.hpp"
#include "translate/ascent_file.hpp"
#include "translate/translation.hpp"

namespace sidestream::ascent {

/// The translation of a file of actions, YAML or JSON, and of the files that its triggers name. Throws as `translate`.
[[nodiscard]] Translation translated(const std::string& file);

/// The configuration that is being made.
class Configuration {
 public:
  /// The variable of a field, declared with at least so many components unless it is derived.
  std::string field(const std::string& name, int components = 1);
  /// Declares a derived variable. A second one of that name with another formula is refused.
  void derive(const std::string& name, const std::string& formula, const Location& where);
  void add_analysis(const std::string& kind, const std::string& options) { add(analyses_, kind, options); }
  void add_output(const std::string& kind, const std::string& options) { add(outputs_, kind, options); }
  /// A name in the output directory for a file that Ascent has at `path`, which may have a pattern such as %04d. With
  /// `counted` the cycle comes into it. Each name is given once.
  [[nodiscard]] std::string file(std::string path, const std::string& ending, bool counted);
  [[nodiscard]] std::string text(const std::string& source) const;

  TranslatedCondition guard{};  ///< of the trigger whose actions are translated

 private:
  void add(std::string& section, const std::string& kind, const std::string& options);

  std::map<std::string, int> components_;
  std::vector<std::pair<std::string, std::string>> derived_;
  std::set<std::string> files_;
  std::string analyses_, outputs_;
};

/// The part of the mesh that a pipeline leaves, as options of our analyses.
struct Geometry {
  std::string kind{};                  ///< the analysis and the layer of a picture; empty: the whole mesh
  std::string field{};                 ///< the variable that decides; empty: the one that is shown
  std::vector<std::string> options{};  ///< one for each of several slices
};

/// Translates the filters of a pipeline: adds derived variables, and changes `geometry`. Throws Refused.
void translate_filter(Part& filter, Geometry& geometry, Configuration& made, const ExpressionNames& names);

/// Translates a scene. `geometry_of` gives that of a pipeline, or throws Refused.
using GeometryOf = std::function<Geometry(const std::string& pipeline, const Location& where)>;
void translate_scene(const std::string& name, Part& scene, Configuration& made, Remarks& remarks,
                     const GeometryOf& geometry_of);

}  // namespace sidestream::ascent
