#include "config/tasks/tasks.hpp"

#include <filesystem>
#include <utility>

#include "config/options/document.hpp"
#include "config/tasks/made_meshes.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

constexpr const char* folder = "asked";

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

}  // namespace

std::vector<std::string> kinds_to_ask_for(const Registry& registry) {
  std::vector<std::string> kinds = keys_of(registry.analyses());
  std::erase(kinds, "python");  // it runs any code
  return kinds;
}

AskedTask read_asked_task(const std::string& text, const std::string& name, const std::vector<TaskConfig>& others,
                          const Config& config, const Registry& registry, std::function<void(const Node&)> derive) {
  const Parameters none;
  ReadContext context{ExpressionContext{none, Stage::start}, &config.metadata};
  context.derive = std::move(derive);
  context.folder = config.opening.directory;
  context.beside_file = config.opening.directory;
  const Node entry = parse_node(text, "the request");
  if (entry.text == "python" || (entry.kind == Node::Kind::map && entry.find("python") != nullptr)) {
    fail_at(entry.where, "found the analysis 'python' in a request, expected one of {}: it would run any code",
            listed(kinds_to_ask_for(registry)));
  }
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
