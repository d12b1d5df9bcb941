#include "session/opening/modules.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "analysis/common/kinds.hpp"
#include "base/mpi/agree.hpp"
#include "base/paths.hpp"
#include "config/options/document.hpp"
#include "config/tasks/module_files.hpp"
#include "config/tasks/tasks.hpp"
#include "partition/kinds.hpp"
#include "session/c/c_analysis.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"
#include "storage/register.hpp"

namespace sidestream {

namespace {

/// The tasks of unknown kind.
std::vector<WrittenTask> unknown_tasks(const Document& document, const Registry& registry) {
  std::vector<WrittenTask> tasks = written_tasks(document);
  std::erase_if(tasks, [&](const WrittenTask& task) {
    return registry.analyses().contains(task.kind) || registry.writers().contains(task.kind) ||
           registry.streams().contains(task.kind);
  });
  return tasks;
}

/// True if people may request any analysis while the session runs (`live: {requests: yes}`).
bool takes_requests(const Document& document) {
  const Entry* const live = document.root().find("live");
  const Entry* const requests = live == nullptr ? nullptr : live->value.find("requests");
  if (requests == nullptr) return false;
  const std::string& text = requests->value.text;
  return text == "yes" || text == "true";
}

/// The modules to load for these tasks; with `all_ours`, all modules of Sidestream. A kind that none of these has may
/// be in any other file of the folder.
std::vector<std::string> modules_for(const ModuleFiles& modules, const std::vector<WrittenTask>& tasks, bool all_ours) {
  const auto is_needed = [&](const std::string& file) {
    const auto has = [&](const ModuleKind& kind) { return is_module_of(file, kind); };
    if (all_ours && std::ranges::any_of(module_kinds(), has)) return true;
    return std::ranges::any_of(tasks, [&](const WrittenTask& task) {
      const ModuleKind* const known = module_with(KindOf::task, task.kind);
      return known == nullptr || has(*known);
    });
  };
  std::vector<std::string> files;
  std::ranges::copy_if(modules.files, std::back_inserter(files), is_needed);
  return files;
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
    add_absent(theirs.streams(), registry.streams(), registry);
  }
}

ModuleFiles load_plugins(const OpeningConfig& opening, const Document& document, const std::string& base,
                         Registry& registry) {
  for (const auto& [path, where] : opening.plugins) load_plugin(path, where, registry, register_c_plugin);
  const bool needed = takes_requests(document) || !unknown_tasks(document, registry).empty();
  return needed ? find_modules(base) : ModuleFiles{};
}

void add_needed_modules(ModuleFiles& modules, const Document& document, Registry& registry) {
  modules.files = modules_for(modules, unknown_tasks(document, registry), takes_requests(document));
  add_modules(modules.files, registry);
  for (const WrittenTask& task : unknown_tasks(document, registry)) {
    if (const ModuleKind* const known = module_with(KindOf::task, task.kind)) {
      fail_at(task.where, "{}", missing_module(*known, modules.folders));
    }
  }
}

void load_streams(const char* user, const Document& document, const std::string& base, Registry& registry) {
  if (registry.streams().contains(stream_name)) return;
  ModuleKind kind = *module_with(KindOf::task, stream_name);
  ModuleFiles modules = find_modules(base);
  std::erase_if(modules.files, [&](const std::string& file) { return !is_module_of(file, kind); });
  add_modules(modules.files, registry);
  if (registry.streams().contains(stream_name)) return;
  kind.kind = user;
  const Entry* const placement = document.root().find("placement");
  fail_at(placement == nullptr ? Location{} : placement->where, "{}", missing_module(kind, modules.folders));
}

void add_stream_outputs(Registry& registry, const std::shared_ptr<StreamContext>& context) {
  for (const auto& [name, kind] : registry.streams()) {
    if (!registry.writers().contains(name)) registry.add(kind.output(context));
  }
}

std::string read_configuration_file(const std::string& file, const std::string& mend) {
  if (std::filesystem::is_directory(file)) {
    fail(Code::configuration, "{}: found a directory, expected a configuration file; correct the path", file);
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) fail(Code::configuration, "{}: cannot read the configuration ({}); {}", file, system_text(errno), mend);
  return text.str();
}

std::string common_folder(Communicator& world) {
  std::string folder;
  run_collectively(world, [&] {
    if (world.rank() == 0) folder = working_directory();
  });
  share_text(world, folder);
  return folder;
}

void register_built_in(Registry& registry) {
  register_analyses(registry);
  register_storage(registry);
  register_partitioners(registry);
}

}  // namespace sidestream
