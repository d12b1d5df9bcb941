#include "session/serving/worker_setup.hpp"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "base/paths.hpp"
#include "client/declarations.hpp"
#include "config/options/document.hpp"
#include "config/tasks/module_files.hpp"
#include "session/c/c_analysis.hpp"
#include "session/opening/modules.hpp"
#include "session/serving/streams.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/fields.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "sidestream-worker";
constexpr const char* places[] = {".", "sidestream", "..", "{libraries}/sidestream", "../src", "../../src"};

/// Path of the worker program: next to this library; in the installed location relative to the library or to a program
/// that contains it; or the corresponding places in a build folder.
std::string worker_program(const Settings& settings) {
  std::vector<std::string> folders;
  for (const fs::path& folder : places_from_own(places)) {
    const std::string candidate = (folder / program_name).string();
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.push_back(folder.string());
  }
  settings.fail("isolate", fmt::format("found 'isolate: process', for which Sidestream needs its program {}, and found "
                                       "none in {}; install it beside the library",
                                       program_name, listed(folders)));
}

/// Registers the kinds for any process that reads the same configuration.
void register_for_all(Registry& registry, const OpeningConfig& opening, const std::vector<std::string>& modules) {
  register_built_in(registry);
  for (const auto& [path, where] : opening.plugins) load_plugin(path, where, registry, register_c_plugin);
  add_modules(modules, registry);
}

/// The file with only this analysis, without outputs and without groups of servers (in which other analyses ran). A
/// mesh that it makes belongs to its server.
std::shared_ptr<const Document> with_one(const Document& document, std::size_t analysis) {
  Node root = document.root();
  std::erase_if(root.entries, [](const Entry& entry) { return entry.key == "outputs"; });
  for (Entry& entry : root.entries) {
    if (entry.key == "placement") {
      std::erase_if(entry.value.entries, [](const Entry& one) { return one.key == "groups" || one.key == "measured"; });
    }
    if (entry.key != "analyses") continue;
    std::vector<Node>& items = entry.value.items;
    if (analysis >= items.size()) fail(Code::internal, "analysis {} of {} is wanted", analysis, items.size());
    items = {items[analysis]};
    if (items.front().kind != Node::Kind::map) continue;
    std::erase_if(items.front().entries.front().value.entries, [](const Entry& one) { return one.key == "makes"; });
  }
  return std::make_shared<const Document>(document.file(), std::move(root), document.folder());
}

struct Setup {
  std::string text, file, folder;
  Bytes declarations;
  Bytes metadata;  ///< all metadata with their ids
  std::uint64_t analysis = 0;
  std::vector<std::int32_t> expression_ids;  ///< ids of expression variables of all analyses
  std::vector<std::string> expressions;      ///< their texts
  std::vector<std::string> modules;          ///< files of modules, which the server has loaded
};

}  // namespace

template <>
inline constexpr std::size_t field_count<Setup> = 9;

namespace {

Bytes numbered(const Metadata& metadata) {
  Declarations all;
  all.metadata = metadata;
  return all.encode();
}

/// Objects with the lifetime of the worker's task.
struct Made {
  std::shared_ptr<const Document> document;
  Registry registry;
  Config config;
};

}  // namespace

WorkerSettings worker_settings(const WorkerSource& source, const Config& config, const Registry& registry,
                               std::size_t task) {
  const TaskConfig& entry = config.tasks.at(task);
  Registry known;
  register_for_all(known, config.opening, source.modules);
  const auto found = known.analyses().find(entry.kind);
  // A module may have a different analysis under the name of the program's own.
  if (found == known.analyses().end() || found->second.text != registry.analyses().at(entry.kind).text) {
    entry.settings.fail("isolate", fmt::format("found 'isolate: process' for '{}', which the program itself has "
                                               "registered, expected an analysis that another process can load; put it "
                                               "into a library and name that under 'plugins:', or remove it",
                                               entry.kind));
  }
  std::vector<std::int32_t> ids;
  std::vector<std::string> expressions;
  for (const auto& [id, text] : further_variables(config).expressions) {
    ids.push_back(id);
    expressions.push_back(text);
  }
  const Setup setup{source.text, source.file,    source.folder,          source.declarations, numbered(config.metadata),
                    task,        std::move(ids), std::move(expressions), source.modules};
  return {worker_program(entry.settings), packed_fields(setup), entry.limit, entry.memory_limit};
}

WorkerTask make_worker_task(BytesView bytes) {
  const auto setup = unpacked_fields<Setup>(ByteReader(bytes));
  // The server may have another working directory when it starts a later worker, so each worker enters the first
  // worker's. A node without that folder continues without it.
  [[maybe_unused]] const int entered = setup.folder.empty() ? 0 : chdir(setup.folder.c_str());
  auto made = std::make_shared<Made>();
  made->document = with_one(*parse_document(setup.text, setup.file, setup.folder), setup.analysis);
  register_for_all(made->registry, read_opening(*made->document), setup.modules);
  const Declarations declared = Declarations::decode(setup.declarations);
  FurtherVariables further{Declarations::decode(setup.metadata).metadata};
  for (std::size_t n = 0; n < setup.expression_ids.size(); ++n) {
    further.expressions.emplace(setup.expression_ids[n], setup.expressions.at(n));
  }
  made->config = complete_config(*made->document, made->registry, declared, nullptr, further);
  if (numbered(made->config.metadata) != setup.metadata) {
    fail(Code::internal, "the worker's meshes and variables differ from its server's");
  }
  const TaskConfig& task = made->config.tasks.front();
  WorkerTask result;
  result.task = made->registry.analyses().at(task.kind).create(task.settings, made->config.metadata);
  result.metadata = &made->config.metadata;
  result.keeps = made;
  return result;
}

}  // namespace sidestream
