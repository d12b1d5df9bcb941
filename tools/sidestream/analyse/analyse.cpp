// `sidestream analyse`: stored files take the place of a simulation.
//
// 1. prepare (collective): finds the files and their variables, reads the configuration, and which variables its tasks
//    need.
// 2. run: opens a session. Clients publish the needed blocks of one iteration after the other; servers serve as in any
//    run.
// 3. Errors of clients reach all processes before those that servers have as a result.
// Output directories that contain the input are refused, unless nothing there would change.
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>

#include "analyse/client.hpp"
#include "analyse/demand.hpp"
#include "analyse/snapshot.hpp"
#include "base/mpi/agree.hpp"
#include "check_options.hpp"
#include "config/meshes.hpp"
#include "config/opening.hpp"
#include "config/options/document.hpp"
#include "loading.hpp"
#include "progress.hpp"
#include "session/session_access.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

using analysing::Analysed;
using analysing::Demand;

/// The value of a key in a map; added if missing.
Node& entry_of(Node& map, const char* key) {
  map.kind = Node::Kind::map;
  for (Entry& entry : map.entries) {
    if (entry.key == key) return entry.value;
  }
  return map.entries.emplace_back(Entry{key, map.where, {}}).value;
}

/// The configuration with the changes that the options ask for.
std::shared_ptr<const Document> edited(const Document& document, const AnalyseOptions& options) {
  Node root = document.root();
  if (!options.directory.empty()) {
    Node& directory = entry_of(entry_of(root, "output"), "directory");
    directory.kind = Node::Kind::scalar;
    directory.text = options.directory;
    directory.quoted = true;
  }
  if (!options.outputs) {
    std::erase_if(root.entries, [](const Entry& entry) { return entry.key == "outputs"; });
  }
  return std::make_shared<Document>(document.file(), std::move(root), document.folder());
}

std::array<bool, 3> periodic_axes(const std::string& text) {
  std::array<bool, 3> periodic{};
  for (const char c : text) {
    if (c < 'x' || c > 'z') fail(Code::usage, "--periodic: found '{}', expected axes, as in xyz or xy", text);
    periodic[static_cast<std::size_t>(c - 'x')] = true;
  }
  return periodic;
}

/// The work of one process of the group.
class Analysis {
 public:
  Analysis(const AnalyseOptions& options, MPI_Comm group) : options_(options), world_(MpiCommunicator::over(group)) {}

  /// Collective.
  void prepare() {
    std::string text;
    run_collectively(*world_, [&] {
      if (world_->rank() == 0) text = read_text(options_.config, "the configuration");
    });
    share_text(*world_, text);
    sources_.emplace(options_.sources, *world_);
    files_ = sources_->metadata();
    run_collectively(*world_, [&] {
      const auto document = edited(*parse_document(text, options_.config), options_);
      CheckOptions given;
      given.values = options_.values;
      parameters_ = parse_values(given);
      check_directory(read_opening(*document));
      complete(files_, *document);
      demand_.emplace(*document, parameters_, files_);
      check();
    });
  }

  /// Collective. Returns true if data were lost, or a signal ended the run.
  bool run(const std::function<bool()>& stop) {
    const auto begin = std::chrono::steady_clock::now();
    Session session = SessionAccess::open(world_->comm(), options_.config,
                                          [&](const Document& document) { return edited(document, options_); });
    const PlacementMode mode = demand_->opening().placement.mode;
    // Servers in another job do not know that blocks are left out.
    const bool selective = mode != PlacementMode::sidecar && mode != PlacementMode::job;
    if (selective) SessionAccess::expect_gaps(session);
    std::exception_ptr failure;
    const bool served = session.is_server();
    try {
      if (served) {
        session.serve();
      } else {
        publish(session, selective, stop);
      }
    } catch (...) {
      failure = std::current_exception();
    }
    const Account account = session.close();
    // Servers learn of the clients' failures, since one of them may be the process that logs. This comes before the
    // servers' own errors about clients that ended within an iteration.
    run_collectively(*world_, [&] {
      if (failure && !served) std::rethrow_exception(failure);
    });
    run_collectively(*world_, [&] {
      if (failure) std::rethrow_exception(failure);
    });
    say(begin);  // servers have ended by now
    const bool lost = account.refused + account.failed + account.unknown > 0;
    if (lost && world_->rank() == 0) {
      std::cerr << fmt::format("sidestream analyse: of {} iterations {} were refused, {} failed, {} are unknown\n",
                               account.iterations, account.refused, account.failed, account.unknown);
    }
    return lost || stopped_ || sources_->lacks_some();
  }

 private:
  /// Refuses to overwrite the files that are read, or to append to them.
  void check_directory(const OpeningConfig& opening) const {
    if (opening.existing == Existing::refuse) return;
    namespace fs = std::filesystem;
    std::error_code problem;
    const fs::path directory = fs::weakly_canonical(opening.directory, problem);
    for (const analysing::StoredIteration& iteration : sources_->iterations()) {
      const fs::path file = fs::weakly_canonical(iteration.path, problem);
      const auto ends = std::mismatch(directory.begin(), directory.end(), file.begin(), file.end());
      if (ends.first != directory.end()) continue;
      fail(Code::configuration,
           "{}: '{}' lies in the output directory '{}', which 'existing: {}' would change; choose another: --directory",
           options_.config, iteration.path, opening.directory,
           opening.existing == Existing::replace ? "replace" : "resume");
    }
  }

  /// Adds periodicity, which files of most formats lack.
  void complete(Metadata& files, const Document& document) const {
    Parameters parameters = parameters_;
    parameters.merge(read_parameters(document));
    const ReadContext context{{parameters, Stage::start}};
    const Entry* declared = document.root().find("meshes");
    for (Mesh& mesh : files.meshes) {
      std::array<bool, 3> periodic = periodic_axes(options_.periodic);
      const Node* entry = nullptr;
      if (declared != nullptr && declared->value.find(mesh.name)) entry = &declared->value.find(mesh.name)->value;
      if (entry != nullptr && entry->kind == Node::Kind::map) {
        const Settings settings =
            read_settings(*entry, mesh_options(*entry), fmt::format("the mesh '{}'", mesh.name), entry->where, context);
        const Mesh made = make_mesh(mesh.name, settings);
        for (std::size_t a = 0; a < 3; ++a) periodic[a] = periodic[a] || made.periodic[a];
        mesh.fixed = made.fixed;
      }
      for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions) && !mesh.is_list(); ++a) {
        mesh.periodic[a] = mesh.periodic[a] || periodic[a];
      }
    }
  }

  void check() const {
    const Metadata& known = demand_->metadata();
    if (demand_->opening().placement.mode == PlacementMode::off) {
      fail(Code::configuration, "{}: found 'placement: off', with which nothing runs; choose another", options_.config);
    }
    std::vector<std::string> names;
    for (const Variable& variable : files_.variables) names.push_back(variable.name);
    bool any = false;
    for (const Variable& variable : known.variables) {
      if (variable.derived() || !demand_->variables()[static_cast<std::size_t>(variable.id)]) continue;
      any = true;
      if (files_.find_variable(variable.name)) continue;
      std::string contents = sources_->contents();
      if (!contents.empty()) contents.insert(0, ", and ");
      fail(Code::configuration, "{}: the variable '{}' is needed, which no file has; they have {}{}; {}",
           options_.config, variable.name, listed(names), contents,
           suggestion(variable.name, names, "correct the name, or remove what needs it"));
    }
    if (!any && !demand_->catalogue()) {
      fail(Code::configuration, "{}: nothing needs a variable of the files; add 'analyses:'", options_.config);
    }
    for (const std::string& task : demand_->waiting()) {
      if (world_->rank() != 0) break;
      log::warning("{}: it waits for an event of the simulation ('on:'); files have none, and it does not run", task);
    }
  }

  void publish(Session& session, bool selective, const std::function<bool()>& stop) {
    const auto clients = MpiCommunicator::over(session.comm());
    analysing::Client client(session, *clients, *sources_, *demand_, selective);
    run_collectively(*clients, [&] {
      for (const auto& [name, value] : parameters_) std::visit([&](auto number) { session.set(name, number); }, value);
      client.declare(files_);
    });
    session.start();
    const ProgressLine progress("iteration", static_cast<std::int64_t>(sources_->iterations().size()),
                                clients->rank() == 0);
    for (std::size_t n = 0; n < sources_->iterations().size() && !stops(*clients, stop()); ++n) {
      progress.at(static_cast<std::int64_t>(n));
      client.iterate(n);
    }
    progress.clear();
    analysed_ = client.analysed();
    stopped_ = analysed_.iterations < static_cast<std::int64_t>(sources_->iterations().size());
  }

  /// Collective: true if any process was asked to stop.
  static bool stops(Communicator& clients, bool mine) {
    std::int64_t any = mine ? 1 : 0;
    clients.maximum(std::span(&any, 1));
    return any != 0;
  }

  /// Collective, after the session is closed, so that the time includes the servers'. Bytes are those of published
  /// values; files may have packed them.
  void say(std::chrono::steady_clock::time_point begin) const {
    auto bytes = static_cast<std::int64_t>(analysed_.bytes);
    std::int64_t iterations = analysed_.iterations;  // 0 on servers
    world_->sum(std::span(&bytes, 1));
    world_->maximum(std::span(&iterations, 1));
    if (world_->rank() != 0) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::cout << fmt::format("analysed {} of {} iterations, {:.1f} MiB of values, in {:.2f} s\n", iterations,
                             sources_->iterations().size(), static_cast<double>(bytes) / (1 << 20), seconds)
              << std::flush;
  }

  const AnalyseOptions& options_;
  std::unique_ptr<MpiCommunicator> world_;
  std::optional<analysing::Sources> sources_;
  Metadata files_;
  Analysed analysed_;     ///< by this process, as a client
  bool stopped_ = false;  ///< true if a signal ended it
  Parameters parameters_;
  std::optional<Demand> demand_;
};

/// Lists the content of the files, without a configuration.
int list_files(const analysing::SourceOptions& options) {
  return run_group("analyse", [&](MPI_Comm group, const std::function<bool()>&) {
    const auto all = MpiCommunicator::over(group);
    const analysing::Sources sources(options, *all);
    if (all->rank() == 0) std::cout << analysing::contents_of(sources.iterations(), sources.metadata()) << std::flush;
  });
}

}  // namespace

int analyse(const AnalyseOptions& options) {
  if (options.config.empty()) return list_files(options.sources);
  ::unsetenv("SIDESTREAM_CONFIG");  // set for a simulation; here --config gives the file
  bool lost = false;
  const int status = run_group("analyse", [&](MPI_Comm group, const std::function<bool()>& stop) {
    Analysis analysis(options, group);
    analysis.prepare();
    lost = analysis.run(stop);
  });
  return status != 0 ? status : lost ? 1 : 0;
}

}  // namespace sidestream
