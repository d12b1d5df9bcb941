// Translates actions of Ascent. A first pass over a file collects pipelines and queries, since others may use them
// before they are defined; a second one translates scenes, extracts, queries and triggers. The actions of a trigger are
// translated under its condition. Actions and parameters are those of Ascent's documentation (0.9).
#include "translate/ascent.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "sidestream/kit/base/names.hpp"

namespace sidestream::ascent {

std::string Configuration::field(const std::string& name, int components) {
  std::string plain = plain_name(name);
  const auto is_it = [&](const auto& one) { return one.first == plain; };
  if (std::any_of(derived_.begin(), derived_.end(), is_it)) return plain;
  int& most = components_[plain];
  most = std::max(most, components);
  return plain;
}

void Configuration::derive(const std::string& name, const std::string& formula, const Location& where) {
  const std::string plain = plain_name(name);
  for (const auto& [known, its] : derived_) {
    if (known != plain) continue;
    if (its == formula) return;
    throw Refused(where, fmt::format("the field '{}' is made in two ways; give it another 'output_name'", name));
  }
  if (components_.count(plain) > 0) {
    throw Refused(where,
                  fmt::format("the field '{}' replaces one of the simulation; give it another 'output_name'", name));
  }
  derived_.emplace_back(plain, formula);
}

void Configuration::add(std::string& section, const std::string& kind, const std::string& options) {
  std::string more;
  if (!guard.every.empty()) more += ", every: " + guard.every;
  if (!guard.when.empty()) more += ", when: " + in_quotes(guard.when);
  const std::size_t skip = options.empty() && !more.empty() ? 2 : 0;
  section += fmt::format("  - {}: {{{}{}}}\n", kind, options, more.substr(skip));
}

std::string Configuration::file(std::string path, const std::string& ending, bool counted) {
  if (path.starts_with('/')) path = std::filesystem::path(path).filename().string();
  while (path.starts_with("./")) path.erase(0, 2);
  std::string stem, counter;
  for (std::size_t n = 0; n < path.size(); ++n) {
    const std::size_t end = path.find('d', n);
    const bool pattern = path[n] == '%' && end != std::string::npos && end <= n + 4;
    if (pattern) {
      const std::string width = path.substr(n + 1, end - n - 1);
      counter = width.empty() ? "{cycle}" : fmt::format("{{cycle:{}}}", width);
      stem += counter;
      n = end;
    } else {
      stem += path[n] == '{' || path[n] == '}' || path[n] == ':' ? '_' : path[n];
    }
  }
  if (stem.ends_with(ending)) stem.erase(stem.size() - ending.size());
  if (stem.empty()) stem = "ascent";
  std::string unique = stem;
  for (int n = 2; !files_.insert(unique + ending).second; ++n) unique = fmt::format("{}-{}", stem, n);
  if (counted && counter.empty())
    unique += unique.ends_with('_') || unique.ends_with('-') ? "{cycle:06}" : "-{cycle:06}";
  return unique + ending;
}

std::string Configuration::text(const std::string& source) const {
  std::string all =
      "# Made by `sidestream translate ascent " + source + "`. Its messages say what it could not translate.\n";
  if (!components_.empty()) {
    all += "# The program declares the mesh, or this file does. Correct meshes, centring and components.\nvariables:\n";
  }
  for (const auto& [name, components] : components_) {
    all += fmt::format("  {}: {{mesh: mesh{}}}\n", in_quotes(name),
                       components > 1 ? fmt::format(", components: {}", components) : "");
  }
  if (!derived_.empty()) all += "derived:\n";
  for (const auto& [name, formula] : derived_) all += fmt::format("  {}: {}\n", in_quotes(name), in_quotes(formula));
  all += "analyses:" + (analyses_.empty() ? " []\n" : "\n" + analyses_);
  if (!outputs_.empty()) all += "outputs:\n" + outputs_;
  return all;
}

namespace {

class Translator {
 public:
  Translation run(const std::string& file) {
    std::string source = file;
    translate(read_actions(file), file, 0);
    return {made_.text(source), remarks_.text()};
  }

 private:
  /// A pipeline; it is translated when it is used first.
  struct Pipeline {
    Node node{};
    Location where{};
    bool begun = false, done = false;
    Geometry geometry{};
    std::string refusal{};
  };

  void translate(const Node& actions, const std::string& file, int depth) {
    for (const Node& item : actions.items) collect(item);
    for (const Node& item : actions.items) {
      Part action(&item, item.where, remarks_);
      attempt(action, "the action", [&] { act(action, file, depth); });
    }
    for (auto& [name, pipeline] : pipelines_) {
      if (pipeline.begun) continue;
      pipeline.begun = pipeline.done = true;
      try {  // to report what has no counterpart; only queries may need it
        Pipeline unused = pipeline;
        apply(unused);
        remarks_.add(pipeline.where, fmt::format("the pipeline '{}' is not used, and nothing is made of it", name));
      } catch (const Refused& refused) {
        remarks_.add(refused.where, fmt::format("the pipeline '{}' was left out: {}", name, refused.what()));
      }
    }
  }

  template <class Work>
  void attempt(Part& part, const std::string& what, Work&& work) {
    try {
      work();
    } catch (const Refused& refused) {
      part.leave_out();
      remarks_.add(refused.where, fmt::format("{} was left out: {}", what, refused.what()));
    }
  }

  /// Calls `f(name, part)` for each entry of the map `key`.
  void each(Part& action, const std::string& key, const std::string& what,
            const std::function<void(const std::string&, Part&)>& f) {
    const Entry* const all = action.find(key);
    if (all == nullptr) action.refuse("'" + key + "' are missing");
    for (const Entry& entry : all->value.entries) {
      Part part(&entry.value, entry.where, remarks_);
      attempt(part, fmt::format("the {} '{}'", what, entry.key), [&] { f(entry.key, part); });
    }
  }

  void collect(const Node& item) {
    if (const Entry* const pipelines = item.find("pipelines")) {
      for (const Entry& entry : pipelines->value.entries) pipelines_[entry.key] = {entry.value, entry.where};
    }
    const Entry* const queries = item.find("queries");
    for (const Entry& entry : queries == nullptr ? std::vector<Entry>{} : queries->value.entries) {
      const Entry* const params = entry.value.find("params");
      const Entry* const name = params == nullptr ? nullptr : params->value.find("name");
      const Entry* const expression = params == nullptr ? nullptr : params->value.find("expression");
      if (expression == nullptr) continue;
      queries_[name == nullptr ? entry.key : name->value.text] = {expression->value.text, expression->value.where};
    }
  }

  void act(Part& action, const std::string& file, int depth) {
    const std::string kind = action.need("action");
    if (kind == "add_pipelines") {
      action.ignore({"pipelines"});
    } else if (kind == "add_scenes") {
      each(action, "scenes", "scene", [&](const std::string& name, Part& scene) {
        translate_scene(name, scene, made_, remarks_,
                        [&](const std::string& pipeline, const Location& where) { return geometry(pipeline, where); });
      });
    } else if (kind == "add_extracts") {
      each(action, "extracts", "extract", [&](const std::string& name, Part& part) { extract(name, part); });
    } else if (kind == "add_queries") {
      each(action, "queries", "query", [&](const std::string& name, Part& part) { query(name, part); });
    } else if (kind == "add_triggers") {
      each(action, "triggers", "trigger", [&](const std::string&, Part& part) { trigger(part, file, depth); });
    } else if (kind == "execute" || kind == "reset") {
      action.remark(fmt::format("'{}' is not needed: all runs in each iteration", kind));
    } else if (kind == "save_info" || kind == "save_session") {
      action.ignore({"file_name"});
      action.remark(fmt::format("'{}' is not needed: tables, timings and run.yaml are in the output directory", kind));
    } else {
      action.leave_out();
      const std::string near = did_you_mean(kind, {"add_pipelines", "add_scenes", "add_extracts", "add_queries",
                                                   "add_triggers", "add_commands", "execute"});
      action.refuse(fmt::format("'{}' has no counterpart{}", kind,
                                kind == "add_commands" ? ": ours run no commands; watch the files, or use `python`"
                                : near.empty()         ? ""
                                                       : "; did you mean '" + near + "'?"));
    }
  }

  // Pipelines.

  Geometry geometry(const std::string& name, const Location& where) {
    const auto found = pipelines_.find(name);
    if (found == pipelines_.end()) throw Refused(where, fmt::format("the pipeline '{}' is unknown", name));
    Pipeline& pipeline = found->second;
    if (!pipeline.begun) {
      pipeline.begun = true;
      try {
        apply(pipeline);
      } catch (const Refused& refused) {
        pipeline.refusal = refused.what();
        remarks_.add(refused.where, fmt::format("the pipeline '{}' was left out: {}", name, refused.what()));
      }
      pipeline.done = true;
    }
    if (!pipeline.done) throw Refused(where, fmt::format("the pipeline '{}' uses itself", name));
    if (!pipeline.refusal.empty()) {
      throw Refused(where, fmt::format("its pipeline '{}' was left out ({})", name, pipeline.refusal));
    }
    return pipeline.geometry;
  }

  void apply(Pipeline& pipeline) {
    if (const Entry* const base = pipeline.node.find("pipeline")) {
      pipeline.geometry = geometry(base->value.text, base->where);
    }
    for (const Entry& entry : pipeline.node.entries) {
      if (entry.key == "pipeline") continue;
      Part filter(&entry.value, entry.where, remarks_);
      try {
        translate_filter(filter, pipeline.geometry, made_, names_);
      } catch (const Refused&) {
        filter.leave_out();
        throw;
      }
    }
  }

  // Extracts.

  void extract(const std::string& name, Part& extract) {
    const std::string type = extract.need("type"), pipeline = extract.text("pipeline");
    const Geometry part = pipeline.empty() ? Geometry{} : geometry(pipeline, extract.where());
    Part params = extract.part("params");
    try {
      extract_of(type, name, part, params);
    } catch (const Refused&) {
      params.leave_out();
      throw;
    }
  }

  void extract_of(const std::string& type, const std::string& name, const Geometry& part, Part& params) {
    static const std::map<std::string, const char*> reasons{
        {"python", "its script reads Ascent's data; write an analysis `python`"},
        {"htg", "the output `database` and `sidestream export` make HyperTreeGrids of octrees"},
        {"flatten", "outputs are read as arrays with Python"},
        {"steering", "see `steering`"},
        {"conduit", "an endpoint or `sidestream.open` reads what a run publishes"}};
    if (type == "relay" || type == "vtk") return relay(type, name, part, params);
    if (type == "statistics" || type == "histogram") return table(type, name, params);
    if (type == "adios2") return stream(params);
    const auto reason = reasons.find(type);
    params.refuse(fmt::format("extracts of type '{}' have no counterpart{}{}", type,
                              reason == reasons.end() ? "" : ": ", reason == reasons.end() ? "" : reason->second));
  }

  void relay(const std::string& type, const std::string& name, const Geometry& part, Part& params) {
    const std::string protocol = params.text("protocol", "hdf5"), path = params.text("path", name);
    if (protocol == "yaml" || protocol == "json" || protocol == "conduit_json") {
      params.refuse(fmt::format("the protocol '{}' has no counterpart; ours writes HDF5 and VTK", protocol));
    }
    params.drop({"num_files"}, "see `output: {writers}`");
    params.drop({"hdf5_options"}, "see the options of the output `hdf5`");
    params.drop({"topologies"}, "name the variables");
    std::vector<std::string> fields;
    for (const std::string& one : params.texts("fields")) fields.push_back(made_.field(one));
    if (!part.kind.empty()) return cut(path, part, fields, params);
    const std::string list = fields.empty() ? "" : fmt::format("variables: [{}], ", fmt::join(fields, ", "));
    if (type == "vtk") {
      made_.add_output("vtk", list + "file: " + in_quotes(made_.file(path, ".pvti", true)));
    } else {
      made_.add_output("hdf5", list + "file: " + in_quotes(made_.file(path, ".h5", true)));
    }
  }

  /// The result of a pipeline in a file of its own.
  void cut(const std::string& path, const Geometry& part, const std::vector<std::string>& fields, Part& params) {
    const bool cells = part.kind == "threshold" || part.kind == "clip", grid = part.kind == "resample";
    const std::string ending = cells ? ".vtu" : grid ? ".h5" : ".vtp";
    std::string field = part.field;
    std::vector<std::string> others = fields;
    if (field.empty() && others.empty()) params.refuse("ours needs 'fields' for the result of this pipeline");
    if (field.empty()) {
      field = others.front();
      others.erase(others.begin());
    }
    std::erase(others, field);
    for (const std::string& options : part.options) {
      std::string text =
          grid ? fmt::format("variables: [{}{}{}]", field, others.empty() ? "" : ", ", fmt::join(others, ", "))
               : "variable: " + field;
      if (!grid && !others.empty()) text += fmt::format(", fields: [{}]", fmt::join(others, ", "));
      made_.add_analysis(part.kind, fmt::format("{}{}{}, file: {}", text, options.empty() ? "" : ", ", options,
                                                in_quotes(made_.file(path, ending, true))));
    }
    params.remark(fmt::format("the result of its pipeline becomes a file of {}", grid ? "HDF5" : "VTK"));
  }

  void table(const std::string& type, const std::string& name, Part& params) {
    std::string options = "variable: " + made_.field(params.need("field"));
    if (type == "histogram") options += ", bins: " + params.number("bins").value_or("64");
    made_.add_analysis(type, options + ", file: " + in_quotes(made_.file(params.text("path", name), ".csv", false)));
  }

  void stream(Part& params) {
    const std::string file = std::filesystem::path(params.text("filename", "ascent")).stem().string();
    std::string engine = params.text("engine", "BPFile");
    std::transform(engine.begin(), engine.end(), engine.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    made_.add_output("stream",
                     fmt::format("name: {}, engine: {}", plain_name(file), engine == "sst" ? "sst" : "files"));
    params.remark("the output is a stream that `sidestream endpoint` reads");
  }

  // Queries and triggers.

  void query(const std::string& key, Part& query) {
    Part params = query.part("params");
    const std::string name = params.text("name", key);
    const Location where = params.where();
    try {
      const TranslatedQuery found = translated_query(params.need("expression"), where, names_);
      if (query.has("pipeline")) query.refuse("it asks about the result of a pipeline; ours ask about variables");
      if (!found.bins.empty()) {
        made_.add_analysis("histogram", fmt::format("variable: {}, bins: {}, file: {}", found.fields.front(),
                                                    found.bins, in_quotes(made_.file(name, ".csv", false))));
        return;
      }
      for (const std::string& field : found.fields) {
        made_.add_analysis("statistics",
                           fmt::format("variable: {}, file: {}", field, in_quotes(made_.file(name, ".csv", false))));
      }
      params.remark(fmt::format("the query '{}' is {}; {}", name, found.number,
                                found.fields.empty() ? "all tables have cycle and time, and other numbers are constant"
                                                     : "the table has the statistics of its fields"));
    } catch (const Refused&) {
      params.leave_out();
      throw;
    }
  }

  void trigger(Part& trigger, const std::string& file, int depth) {
    Part params = trigger.part("params");
    try {
      if (trigger.has("callback") || params.has("callback")) {
        trigger.refuse("callbacks have no counterpart; raise an event in the program, and use `on`");
      }
      const std::string text = params.need("condition");
      const TranslatedCondition outer = made_.guard;
      TranslatedCondition inner = translated_condition(text, params.find("condition")->where, names_);
      if (!outer.when.empty()) inner.when = inner.when.empty() ? outer.when : outer.when + " and " + inner.when;
      if (!outer.every.empty() && !inner.every.empty()) trigger.refuse("it counts cycles within a trigger that does");
      if (!outer.every.empty()) inner.every = outer.every;
      made_.guard = inner;
      under(params, file, depth);
      made_.guard = outer;
    } catch (const Refused&) {
      params.leave_out();
      throw;
    }
  }

  /// Translates a trigger's actions.
  void under(Part& params, const std::string& file, int depth) {
    if (const Entry* const actions = params.find("actions")) {
      translate(actions->value, file, depth + 1);
      return params.ignore({"actions_file"});
    }
    const std::string name = params.need("actions_file");
    const std::filesystem::path path = std::filesystem::path(file).parent_path() / name;
    if (depth >= 8) params.refuse("triggers that name each other's files in a circle");
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) {
      params.refuse(fmt::format("the file of its actions, '{}', is not there", path.string()));
    }
    translate(read_actions(path.string()), path.string(), depth + 1);
  }

  Remarks remarks_;
  Configuration made_;
  std::map<std::string, Pipeline> pipelines_;
  std::map<std::string, std::pair<std::string, Location>> queries_;
  ExpressionNames names_{
      [this](const std::string& name) -> const std::pair<std::string, Location>* {
        const auto found = queries_.find(name);
        return found == queries_.end() ? nullptr : &found->second;
      },
      [this](const std::string& field, int components) { return in_expression(made_.field(field, components)); }};
};

}  // namespace

Translation translated(const std::string& file) { return Translator().run(file); }

}  // namespace sidestream::ascent
