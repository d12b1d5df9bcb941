#include "session/opening/modules.hpp"

#include <algorithm>

#include "config/options/document.hpp"
#include "config/tasks/plugin_loader.hpp"
#include "config/tasks/tasks.hpp"
#include "session/c/c_analysis.hpp"

namespace sidestream {

namespace {

/// The tasks of unknown kind.
std::vector<WrittenTask> unknown_tasks(const Document& document, const Registry& registry) {
  std::vector<WrittenTask> tasks = written_tasks(document);
  std::erase_if(tasks, [&](const WrittenTask& task) {
    return registry.analyses().contains(task.kind) || registry.writers().contains(task.kind);
  });
  return tasks;
}

template <class Kinds>
void add_absent(const Kinds& from, const Kinds& there, Registry& to) {
  for (const auto& [name, kind] : from) {
    if (!there.contains(name)) to.add(kind);
  }
}

}  // namespace

void add_modules(const std::vector<std::string>& files, Registry& registry) {
  for (const std::string& file : files) {
    Registry theirs;
    load_plugin(file, {}, theirs, register_c_plugin);
    add_absent(theirs.analyses(), registry.analyses(), registry);
    add_absent(theirs.writers(), registry.writers(), registry);
    add_absent(theirs.formats(), registry.formats(), registry);
    add_absent(theirs.partitioners(), registry.partitioners(), registry);
    add_absent(*theirs.codecs(), *registry.codecs(), registry);
  }
}

ModuleFiles load_plugins(const OpeningConfig& opening, const Document& document, const std::string& base,
                         Registry& registry) {
  for (const auto& [path, where] : opening.plugins) load_plugin(path, where, registry, register_c_plugin);
  return unknown_tasks(document, registry).empty() ? ModuleFiles{} : find_modules(base);
}

void add_needed_modules(const ModuleFiles& modules, const Document& document, Registry& registry) {
  if (unknown_tasks(document, registry).empty()) return;
  add_modules(modules.files, registry);
  for (const WrittenTask& task : unknown_tasks(document, registry)) {
    if (const ModuleKind* const known = module_with(KindOf::task, task.kind)) {
      fail_at(task.where, "{}", missing_module(*known, modules.folders));
    }
  }
}

}  // namespace sidestream
