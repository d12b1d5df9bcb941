// `sidestream serve`: a group of servers attaches to a running simulation, serves it, and leaves.
//
// 1. read_configuration and find_place: each process learns its node and its number there.
// 2. attach: asks the node's listener for a place until all processes have one; compare_nodes checks that all nodes
//    belong to one simulation.
// 3. configure: reads the simulation's declarations, and checks them against this configuration.
// 4. serve: joins at the first iteration that all clients can still send (join), then runs the engine.
// 5. finish: writes the records, and reports a simulation that died.
#include "session/serving/attached_groups.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>

#include "base/mpi/agree.hpp"
#include "base/mpi/joint_work.hpp"
#include "base/own_environment.hpp"
#include "base/paths.hpp"
#include "base/run_log.hpp"
#include "base/time_of_day.hpp"
#include "client/declarations.hpp"
#include "config/groups.hpp"
#include "config/options/document.hpp"
#include "config/tasks/tasks.hpp"
#include "session/opening/modules.hpp"
#include "session/opening/roles.hpp"
#include "session/opening/sidecar_start.hpp"
#include "session/serving/record.hpp"
#include "session/serving/run_tables.hpp"
#include "session/serving/same_declarations.hpp"
#include "session/serving/server_groups.hpp"
#include "session/serving/serving.hpp"
#include "session/serving/streams.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/wait_notes.hpp"
#include "storage/files/output_directory.hpp"
#include "transport/shared_memory/sidecar/attach_protocol.hpp"
#include "transport/shared_memory/sidecar/sidecar_server.hpp"

namespace sidestream {

namespace {

using shared_memory::Attachment;
using shared_memory::AttachRequest;
using shared_memory::AttachSignal;

/// Seconds that a group waits for a killed predecessor to disappear.
constexpr double busy_limit = 5;

class Group {
 public:
  Group(MpiCommunicator& world, const AttachOptions& options) : world_(world), options_(options) {}
  void run();

 private:
  void read_configuration();
  void find_place();
  [[nodiscard]] bool attach();
  [[nodiscard]] bool must_leave() { return (options_.stop && options_.stop()) || (ending_ && ending_->is_over()); }
  void try_attach(const std::string& name, const AttachRequest& request, double waited, bool run_ended);
  void compare_nodes();
  void configure();
  void divide();
  [[nodiscard]] std::int64_t meet(std::int64_t next);
  [[nodiscard]] std::exception_ptr run_group();
  [[nodiscard]] bool join(shared_memory::SidecarServer& server, std::int64_t& first);
  void serve();
  void write_records(const Ledger& ledger);
  void finish(bool died);
  [[nodiscard]] bool anybody(bool flag);
  /// Runs `work`. Collective: if it throws on one process, it throws on all.
  template <class Work>
  void jointly(Work&& work) {
    JointWork joint(world_, node_members_.get());
    joint.run(work);
  }
  [[nodiscard]] RunFacts facts() const;

  std::shared_ptr<RunLog> log_ = std::make_shared<RunLog>();
  MpiCommunicator& world_;
  const AttachOptions& options_;
  std::string text_;
  std::string started_;  ///< the time of day at the start
  std::string folder_;   ///< working directory of the first server at its start: the base of relative paths
  std::shared_ptr<const Document> document_;
  OpeningConfig opening_;
  Registry registry_;
  ModuleFiles modules_;
  Roles roles_;
  std::unique_ptr<EndingWatch> ending_;  ///< a watched signal ends the run, not only these servers
  std::unique_ptr<MpiCommunicator> node_members_;
  int pretended_ = -1;
  std::shared_ptr<Attachment> attachment_;
  SidecarSetup setup_;
  Config config_;
  std::unique_ptr<DirectoryLock> directory_lock_;  ///< on rank 0
  std::unique_ptr<RunTables> tables_;              ///< only with `timings`
  std::unique_ptr<Serving> serving_;
  bool met_ = false;  ///< true after the meeting with the other groups at the end
};

bool Group::anybody(bool flag) {
  std::int64_t any = flag;
  world_.maximum(std::span(&any, 1));
  return any != 0;
}

void Group::read_configuration() {
  run_collectively(world_, [&] {
    if (world_.rank() != 0) return;
    text_ = read_configuration_file(options_.file, "give the file that the simulation uses");
  });
  share_text(world_, text_);
  folder_ = common_folder(world_);
  run_collectively(world_, [&] {
    document_ = parse_document(text_, options_.file, folder_);
    opening_ = read_opening(*document_);
    if (opening_.placement.mode != PlacementMode::sidecar) {
      fail(Code::configuration,
           "{}: the placement is '{}', expected 'sidecar': only then are servers processes of their own", options_.file,
           name_of(opening_.placement.mode));
    }
    register_built_in(registry_);
    modules_ = load_plugins(opening_, *document_, folder_, registry_);
    // A misspelt name is told at once; the simulation may come much later.
    add_needed_modules(modules_, *document_, registry_);
    check_task_names(*document_, registry_);
  });
  ending_ = watch_for_end(world_, opening_.ending, false);
  agree_on_nodes(world_, opening_.placement);
}

void Group::find_place() {
  const PlacementConfig& placement = opening_.placement;
  roles_ = assign_roles(world_, placement);
  node_members_ = std::move(roles_.node_members);
  pretended_ = placement.pretend_nodes > 0 ? roles_.node : -1;
  run_collectively(world_, [&] {
    if (node_members_->size() == placement.per_node) return;
    fail(Code::configuration,
         "{} server processes run on a node, expected {} (placement.per_node); start as many on each node of the "
         "simulation",
         node_members_->size(), placement.per_node);
  });
}

/// Returns false if it was asked to stop before anything was attached.
bool Group::attach() {
  AttachRequest request;
  request.build = shared_memory::shared_memory_build();
  request.place = static_cast<std::uint32_t>(node_members_->rank());
  if (world_.rank() == 0) request.group = shared_memory::random_id();
  Bytes id(bytes_of(request.group).begin(), bytes_of(request.group).end());
  world_.broadcast(id, 0);
  request.group = record_of<shared_memory::Id>(id);
  const std::string& session = opening_.placement.session;
  const double start = now();
  WaitNote note(world_.rank() == 0, fmt::format("the simulation of the session '{}'", session), options_.wait);
  std::unique_ptr<shared_memory::OpeningWatch> opening;
  for (bool run_ended = false;; note.check()) {
    std::array<std::int64_t, 2> left{1, 0};  // not attached here, told to stop
    run_collectively(world_, [&] {
      const std::string name = shared_memory::listener_name(session, pretended_);
      if (!opening) opening = std::make_unique<shared_memory::OpeningWatch>(name);
      if (!attachment_) try_attach(name, request, now() - start, run_ended);
      run_ended = opening->has_ended();  // the listener exists by now, or never will
      left = {!attachment_, (options_.stop && options_.stop()) || (ending_ && ending_->asked())};
    });
    world_.maximum(left);
    if (left[1]) return false;
    if (!left[0]) return true;
    pause_for(std::chrono::milliseconds(20));
  }
}

/// Tries once. `run_ended`: the simulation has opened its listener or ended. Throws if waiting is pointless.
void Group::try_attach(const std::string& name, const AttachRequest& request, double waited, bool run_ended) {
  const std::string& session = opening_.placement.session;
  Attachment::Attempt attempt = Attachment::attempt(name, request);
  switch (attempt.result) {
    case Attachment::Attempt::Result::accepted:
      attachment_ = std::move(attempt.attachment);
      break;
    case Attachment::Attempt::Result::refused:
      fail(Code::configuration, "cannot attach to the session '{}': {}", session, attempt.reason);
    case Attachment::Attempt::Result::busy:
      if (waited < std::min(busy_limit, options_.wait)) break;
      fail(Code::usage, "cannot attach to the session '{}': {}", session, attempt.reason);
    case Attachment::Attempt::Result::nobody:
      if (run_ended) {
        fail(Code::system, "the simulation of the session '{}' has ended before it started; its own output says why",
             session);
      }
      if (waited < options_.wait) break;
      fail(Code::usage,
           "no simulation of this user offers the session '{}' on this node ({:g} s waited); start it, correct "
           "placement.session, or wait longer with --wait",
           session, options_.wait);
  }
}

/// Checks that all servers are attached to one simulation and to all its nodes.
void Group::compare_nodes() {
  const auto& answer = attachment_->answer();
  std::vector<int> seen(static_cast<std::size_t>(answer.nodes), 0);
  const std::vector<Bytes> all = world_.all_gather(bytes_of(answer));
  run_collectively(world_, [&] {
    for (const Bytes& bytes : all) {
      const auto other = record_of<shared_memory::AttachAnswer>(bytes);
      if (other.session != answer.session) {
        fail(Code::usage,
             "the nodes of this group run different simulations with the session name '{}'; give each its own with "
             "placement.session",
             opening_.placement.session);
      }
      ++seen.at(static_cast<std::size_t>(other.node));
    }
    const auto missing = std::count(seen.begin(), seen.end(), 0);
    if (missing == 0) return;
    fail(
        Code::usage,
        "the simulation of the session '{}' runs on {} nodes, and servers were started on {} of them; start {} on each",
        opening_.placement.session, answer.nodes, answer.nodes - missing, opening_.placement.per_node);
  });
}

void Group::configure() {
  setup_ = SidecarSetup::decode(attachment_->declarations());
  std::int64_t epoch = static_cast<std::int64_t>(attachment_->epoch());
  world_.maximum(std::span(&epoch, 1));
  run_collectively(world_, [&] {
    const Declarations declared = Declarations::decode(setup_.declarations);
    const int pretended = opening_.placement.pretend_nodes;
    config_ = complete_config(*document_, registry_, declared);
    check_same_declarations(config_, options_.file, setup_);
    OpeningConfig& opening = config_.opening;
    opening.placement.pretend_nodes = pretended;
    opening.directory = options_.directory.empty() ? setup_.directory : path_from(folder_, options_.directory);
    // A later group of one simulation continues where the previous one ended.
    opening.same_session = epoch > 1;
    if (opening.same_session) opening.existing = Existing::resume;
    if (world_.rank() != 0) return;
    // The simulation holds a different lock there.
    if (epoch == 1) directory_lock_ = std::make_unique<DirectoryLock>(opening.directory, own_files::serve_lock);
    refuse_earlier_run(opening);
  });
  divide();
  serving_ = std::make_unique<Serving>(
      Serving::Group{roles_.group_members ? *roles_.group_members : world_, roles_.group}, config_, registry_,
      WorkerSource{text_, options_.file, folder_, setup_.declarations, modules_.files});
}

/// Divides the servers into the groups of the simulation's memory layout.
void Group::divide() {
  std::vector<ServerGroup>& groups = config_.opening.placement.groups;
  const std::vector<int>& there = attachment_->node()->role().groups;
  run_collectively(world_, [&] {
    bool same = groups.size() == there.size();
    for (std::size_t g = 0; same && g < groups.size(); ++g) {
      same = groups[g].size == 0 || groups[g].size == there[g];
      groups[g].size = there[g];
    }
    if (same) return;
    fail(
        Code::configuration,
        "{}: found {} groups of servers, and {}, or of other sizes, in the simulation, which read {}; give both the same "
        "placement.groups",
        options_.file, groups.size(), there.size(), setup_.file);
  });
  if (groups.empty()) return;
  roles_.group = group_of_server(groups, node_members_->rank());
  roles_.group_members = world_.group(static_cast<int>(roles_.group));
}

/// Returns the error that ended this group of servers, if any. The other groups end with it.
std::exception_ptr Group::run_group() {
  const bool groups = roles_.group_members != nullptr;
  try {
    serving_->run([&] { return must_leave() || (groups && attachment_->broken()); },
                  groups ? Engine::Meet([&](std::int64_t next) { return meet(next); }) : Engine::Meet());
  } catch (...) {
    if (!groups) throw;
    attachment_->hang_up();
    if (!met_) static_cast<void>(meet(0));
    return std::current_exception();
  }
  return nullptr;
}

/// Makes groups that are told to stop do so at one iteration: the last one that any of them has begun.
std::int64_t Group::meet(std::int64_t next) {
  met_ = true;
  world_.maximum(std::span(&next, 1));
  return next;
}

/// Waits until all clients of all servers have joined, and agrees on the first iteration. Returns false if the group
/// should not serve.
bool Group::join(shared_memory::SidecarServer& server, std::int64_t& first) {
  constexpr std::chrono::microseconds slice{10'000};
  const auto stopped = [&] { return server.over() || must_leave(); };
  {
    WaitNote note(world_.rank() == 0, "the first iteration of the simulation's ranks");
    for (; !server.joined() && !stopped(); note.check()) server.receive(slice);
  }
  // Other servers may still wait for computing clients, while clients that have joined fill their rings. A failure here
  // is kept until all servers know of it.
  std::exception_ptr failed;
  world_.set_meanwhile([&] {
    if (failed) return;
    try {
      server.receive(std::chrono::microseconds(0));
    } catch (...) {
      failed = std::current_exception();
    }
  });
  const bool off = anybody(!server.joined());
  first = server.first();
  world_.maximum(std::span(&first, 1));
  world_.set_meanwhile({});
  if (failed) std::rethrow_exception(failed);
  return !off;
}

RunFacts Group::facts() const {
  return {options_.file,
          text_,
          name_of(PlacementMode::sidecar),
          static_cast<int>(setup_.clients),
          world_.size(),
          attachment_->answer().nodes,
          config_.opening.placement.groups,
          started_};
}

void Group::serve() {
  std::optional<shared_memory::SidecarServer> server;
  bool joined = false;
  jointly([&] {
    attachment_->signal(AttachSignal::go);
    const double origin = now();
    started_ = time_of_day();
    server.emplace(attachment_, opening_.placement.poll);
    std::int64_t first = 0;
    joined = join(*server, first);
    if (!joined) return;
    server->start_at(first);
    run_collectively(world_, [&] {
      if (config_.opening.timings) {
        tables_ =
            std::make_unique<RunTables>(config_.opening.directory, world_.rank(), world_.size(), RunTables::Kinds{});
      }
      if (world_.rank() != 0) return;
      remove_earlier_records(config_.opening, {own_files::run_timings, own_files::run_movement,
                                               own_files::run_iterations, own_files::run_messages});
      settle_part_files(config_.opening, {timings_table, movement_table, iterations_table});
      write_record(config_.opening.directory, facts(), nullptr, nullptr);
    });
    begin_messages(*log_, config_.opening, own_files::run_messages, "server", world_.rank());
    serving_->begin({&*server, nullptr, nullptr, setup_.events, first, origin,
                     static_cast<int>(attachment_->answer().node), setup_.clients, true, false,
                     tables_ ? rows_to(*tables_, roles_, world_.rank() == 0, config_.live.requests) : LedgerRows{},
                     true, true, false, nullptr, ending_.get(), attachment_->epoch()});
  });
  const std::exception_ptr failed = joined ? run_group() : nullptr;
  jointly([&] {
    const bool died = anybody(!failed && attachment_->ended() && !attachment_->closed());
    attachment_->signal(AttachSignal::leave);
    finish(died);
    run_collectively(world_, [&] {
      if (failed) std::rethrow_exception(failed);
    });
  });
}

/// Writes the records. Collective; either all servers have begun or none.
void Group::write_records(const Ledger& ledger) {
  const OpeningConfig& opening = config_.opening;
  const bool append = opening.existing == Existing::resume, first = world_.rank() == 0;
  serving_->report();
  const std::optional<Ledger> joint = join_ledgers(world_, roles_, opening.placement, &ledger, 0);
  const auto leave = [&](const RunTable& table, RowSpool& rows) {
    return write_run_table_together(world_, {world_.rank(), 0}, opening.directory, table, rows, append);
  };
  if (tables_) {
    tables_->take(ledger);
    leave(timings_table, tables_->timings);
    if (first && joint->gathers()) tables_->iterations.add(iteration_rows(joint->iterations()));
  }
  const bool listed = tables_ && leave(iterations_table, tables_->iterations);
  const Account account = first ? account_of(*joint) : Account{};
  if (first) warn_of_losses(account, joint->skipped_tasks, listed ? iterations_table.file : "");
  attempt_record(world_, [&] {
    if (first) write_record(opening.directory, facts(), &account, &*joint);
  });
  if (first) {
    log::info("served the session '{}': {}", opening_.placement.session, closing_text(account, opening.directory));
  }
}

void Group::finish(bool died) {
  const Ledger* ledger = serving_->has_begun() ? &serving_->ledger() : nullptr;
  if (ledger) write_records(*ledger);
  run_collectively(world_, [&] {
    if (!died) return;
    fail(
        Code::system,
        "the simulation of the session '{}' has ended without closing; iterations that all its ranks had ended were finished",
        opening_.placement.session);
  });
}

/// Runs the group. The error that ends it is printed by the command, and logged among the run's messages.
void Group::run() try {
  const LogScope logging(log_);
  bool attached = false;
  jointly([&] {
    read_configuration();
    find_place();
    attached = attach();
    if (!attached) return;
    compare_nodes();
    configure();
  });
  if (attached) serve();
} catch (const Error& error) {
  if (world_.rank() == 0) log_->add("error", error.what());
  throw;
}

}  // namespace

void serve_sidecar(MPI_Comm comm, const AttachOptions& options) {
  MpiCommunicator world(comm);
  make_together<Group>(world, world, options)->run();
}

}  // namespace sidestream
