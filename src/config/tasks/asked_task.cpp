#include "config/tasks/tasks.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "config/options/document.hpp"
#include "config/tasks/made_meshes.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

constexpr const char* folder = "asked";

/// True for an analysis whose only result is the mesh that it makes.
bool has_no_file(const AnalysisKind& kind) {
  return kind.result_mesh &&
         std::ranges::none_of(kind.options, [](const Option& option) { return option.type == OptionType::file; });
}

/// Refuses options that need preparation at the session's start.
void check_options(const TaskConfig& task, const Registry& registry) {
  const Settings& settings = task.settings;
  for (const char* option : {"name", "group", "on", "from", "when", "keep_back", "then", "isolate", "memory_limit"}) {
    if (!settings.given(option)) continue;
    settings.fail(option,
                  fmt::format("found '{}' in a request, expected none: it is set up when a session starts; remove "
                              "it",
                              option));
  }
  for (const Option& option : options_of(task, registry)) {
    if (option.type != OptionType::event || !settings.given(option.name)) continue;
    settings.fail(option.name, fmt::format("found the event '{}' in a request, expected none: events are set up when a "
                                           "session starts; remove it",
                                           settings.text(option.name)));
  }
}

void check_files(const TaskConfig& task, const Registry& registry) {
  for (const TaskFile& file : files_of(task, registry)) {
    const fs::path path = fs::path(file.pattern).lexically_normal();
    const bool inside = path.is_relative() && path.has_parent_path() && *path.begin() == folder;
    if (inside && path.has_filename()) continue;
    fail_at(file.where,
            "found the file name '{}' in a request, expected one in the folder '{}', where it replaces nothing of the "
            "run; write '{}/{}'",
            file.pattern, folder, folder, path.filename().string());
  }
}

/// Refuses what no request can be.
void check_kind(const Entry& entry, const Registry& registry) {
  const auto refuse = [&](const char* what, const char* why) {
    fail_at(entry.where, "found the {} '{}' in a request, expected one of {}: {}", what, entry.key,
            listed(kinds_to_ask_for(registry)), why);
  };
  if (entry.key == "python") refuse("analysis", "it would run any code");
  if (registry.writers().contains(entry.key)) {
    refuse("output", "a request is an analysis; write the output into the configuration");
  }
  const auto found = registry.analyses().find(entry.key);
  if (found == registry.analyses().end()) {
    const std::vector<std::string> known = kinds_to_ask_for(registry);
    fail_at(entry.where, "found the unknown analysis '{}' in a request, expected one of {}; {}", entry.key,
            listed(known), suggestion(entry.key, known, "write one of them"));
  }
  if (has_no_file(found->second)) {
    refuse("analysis", "its result is a mesh ('makes'), which a request cannot make; write it into the configuration");
  }
}

/// Default names of files that are not given begin in the folder of requests.
void move_default_files(Entry& entry, const Registry& registry) {
  Node& options = entry.value;
  if (options.kind == Node::Kind::null) options.kind = Node::Kind::map;
  if (options.kind != Node::Kind::map) return;
  for (const Option& option : registry.analyses().at(entry.key).options) {
    const bool is_moved = option.type == OptionType::file && !option.list && !option.default_value.empty();
    if (!is_moved || options.find(option.name) != nullptr) continue;
    Node name;
    name.kind = Node::Kind::scalar;
    name.where = entry.where;
    name.text = fmt::format("{}/{}", folder, option.default_value);
    options.entries.push_back({option.name, entry.where, name});
  }
}

/// The request as an entry of `analyses:`. Other forms are left to read_task, which refuses them.
Node read_request(const std::string& text, const Registry& registry) {
  Node node = parse_node(text, "the request");
  if (node.kind == Node::Kind::scalar) {
    Node value;
    value.where = node.where;
    node.entries.push_back({node.text, node.where, value});
    node.kind = Node::Kind::map;
  }
  if (node.kind != Node::Kind::map || node.entries.size() != 1) return node;
  check_kind(node.entries.front(), registry);
  move_default_files(node.entries.front(), registry);
  return node;
}

}  // namespace

std::vector<std::string> kinds_to_ask_for(const Registry& registry) {
  std::vector<std::string> kinds = keys_of(registry.analyses());
  std::erase_if(kinds, [&](const std::string& kind) {
    return kind == "python" || has_no_file(registry.analyses().at(kind));  // python runs any code
  });
  return kinds;
}

AskedTask read_asked_task(const std::string& text, const std::string& name, const std::vector<TaskConfig>& others,
                          const Config& config, const Registry& registry, std::function<void(const Node&)> derive) {
  const Parameters none;
  ReadContext context{ExpressionContext{none, Stage::start}, &config.metadata};
  context.derive = std::move(derive);
  context.folder = config.opening.directory;
  context.beside_file = config.opening.directory;
  context.asked = true;
  const Node entry = read_request(text, registry);
  AskedTask asked{read_task(entry, false, registry, context)};
  TaskConfig& task = asked.config;
  find_source(task, config.tasks, registry, config.metadata);
  if (task.uses >= 0 || task.settings.given("makes")) {
    fail_at(entry.where,
            "found a request that {}, expected one for variables of the simulation; write it into the configuration",
            task.uses >= 0 ? "uses a mesh that an analysis makes" : "makes a mesh");
  }
  check_options(task, registry);
  check_files(task, registry);
  task.name = name;
  std::vector<TaskConfig> all = config.tasks;
  all.insert(all.end(), others.begin(), others.end());
  all.push_back(task);
  check_task_files(all, registry, config.opening.directory);
  asked.once = !task.settings.given("every");
  return asked;
}

}  // namespace sidestream
