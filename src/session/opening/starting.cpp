// Starting a session: all ranks agree on the declarations, then transports and tasks are created.
//
// 1. vote: all ranks start, or all cancel; anything else is an error on every rank. Who waits long gets a message.
// 2. Meshes are assembled from the clients' parts; declarations are compared, and servers get those of the first
//    client.
// 3. The configuration is read a second time, with the program's parameters. Servers are divided into groups.
// 4. Blocks are checked for overlap, then transports, tasks and streams are made. From here on this is a run: records
//    of the run before are removed or kept.
// 5. Clients publish their declarations, and agree that all have. Servers do not take part, since clients may wait for
//    them.
// Steps 1 to 4 are collective over all ranks, and throw on all of them if they fail on one.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>

#include "base/mpi/agree.hpp"
#include "base/mpi/joint_work.hpp"
#include "base/own_environment.hpp"
#include "base/run_log.hpp"
#include "base/time_of_day.hpp"
#include "config/options/former_names.hpp"
#include "data/derivation.hpp"
#include "session/implementation.hpp"
#include "session/opening/declared_blocks.hpp"
#include "session/opening/modules.hpp"
#include "session/opening/roles.hpp"
#include "session/opening/sidecar_start.hpp"
#include "session/serving/record.hpp"
#include "session/serving/server_groups.hpp"
#include "session/serving/streams.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/wait_notes.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

namespace {

/// Ignores SIGTERM during its lifetime: a server ends when its clients do, so that their published data are kept.
/// Blocking it in this thread does not suffice, because MPI has threads that would receive the signal.
class SigtermIgnored {
 public:
  SigtermIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGTERM, &ignore, &before_);
  }
  ~SigtermIgnored() { sigaction(SIGTERM, &before_, nullptr); }
  SigtermIgnored(const SigtermIgnored&) = delete;
  SigtermIgnored& operator=(const SigtermIgnored&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace

namespace {

constexpr double patience = 5;  ///< seconds

/// Calls `what` during waits in the communicator, for its lifetime.
class Meanwhile {
 public:
  Meanwhile(MpiCommunicator& comm, std::function<void()> what) : comm_(comm) { comm_.set_meanwhile(std::move(what)); }
  ~Meanwhile() { comm_.set_meanwhile({}); }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

 private:
  MpiCommunicator& comm_;
};

}  // namespace

/// The message about ranks that are late, from the servers' or the clients' point of view.
std::string Session::Implementation::late_sentence(Vote choice) const {
  if (is_server()) {
    return fmt::format(
        "the servers have waited {:g} s and the simulation has not started its session (start, or the first publish, on "
        "every client). If it computes or reads its input, all is well. If it hangs, a call of MPI in it most likely "
        "still names MPI_COMM_WORLD, which has the servers' ranks too: give it the communicator of sidestream_comm "
        "(C++ Session::comm, Python session.comm)",
        patience);
  }
  return fmt::format(
      "{} has waited {:g} s for other ranks of the session: each client must call start (or publish, which starts it), "
      "and each rank for which is_server is true must call serve",
      choice == Vote::start ? "start" : "close, of a session that has not started,", patience);
}

/// Votes: true if all ranks want to start, false if all cancelled. Throws if they differ.
bool Session::Implementation::vote(Vote choice) {
  const bool speaks =
      is_server() ? world_->rank() == roles_.servers.first : roles_.members && roles_.members->rank() == 0;
  LateNote note(speaks, patience, speaks ? late_sentence(choice) : std::string());
  const Meanwhile meanwhile(*world_, [&note] { note.check(); });
  std::int64_t lowest = static_cast<std::int64_t>(choice), highest = lowest;
  world_->minimum(std::span(&lowest, 1));
  world_->maximum(std::span(&highest, 1));
  if (highest == static_cast<std::int64_t>(Vote::cancel)) return false;
  if (lowest == highest) return true;
  fail(
      Code::usage,
      "the session was closed on some ranks before it started, and started on others; call start, or publish, on every "
      "client, and serve on every server");
}

/// Removes records of an earlier run, in any placement. Keeps an endpoint's records with `job`, since it may be writing
/// them.
static void remove_replaced(const OpeningConfig& opening) {
  using namespace own_files;
  remove_earlier_records(opening, {run_timings, run_movement, run_iterations, run_messages, clients_record,
                                   clients_timings, clients_iterations, clients_messages});
  settle_part_files(opening,
                    {timings_table, movement_table, iterations_table, client_tables.timings, client_tables.iterations});
  if (opening.placement.mode == PlacementMode::job) return;
  settle_part_files(opening, {endpoint_tables.timings, endpoint_tables.movement, endpoint_tables.iterations});
  remove_earlier_records(
      opening, {endpoint_record, endpoint_timings, endpoint_movement, endpoint_iterations, endpoint_messages});
}

void Session::Implementation::begin_together() {
  // An exception destroys it, which tells waiting jobs that this simulation ends without having started.
  const auto opening = std::move(opening_socket_);
  auto stream_openings = std::move(stream_openings_);
  bind_servers(*world_, roles_, opening_.placement);
  assemble_meshes();
  agree_on_declarations();
  configure();
  divide_servers();
  make_tables();
  // Over all ranks: servers must not continue with the next collective step if a client's blocks are invalid.
  run_collectively(*world_, [&] {
    if (!is_server()) make_publisher();
  });
  check_blocks();
  share_spectral_points(*world_, is_server() ? nullptr : roles_.members.get(), declarations_, config_.metadata);
  if (is_off()) {
    transports_ = make_transports(*world_, roles_, opening_.placement, published_, {});
    publisher_->attach(*transports_.client);
    declarations_.spectral_blocks.clear();
    return;
  }
  make_serving();
  if (opening_.placement.mode == PlacementMode::sidecar) {
    transports_ = make_sidecar_transports(*world_, roles_, config_, declarations_, file_, *publisher_);
  } else {
    transports_ = make_transports(*world_, roles_, config_.opening.placement, published_,
                                  publisher_ ? publisher_->sizes() : std::vector<BlockBytes>{});
  }
  if (transports_.server) attach_streams(*streams_, *transports_.server);
  begin_serving();
  // From here on this is a run whose directory a later run must not overwrite.
  run_collectively(*world_, [&] {
    const bool sidecar = opening_.placement.mode == PlacementMode::sidecar;
    if (sidecar && world_->rank() == 0) {
      remove_earlier_records(opening_, {own_files::clients_messages});
      settle_part_files(opening_, {client_tables.timings, client_tables.iterations});
    }
    // With `sidecar` the servers, another job, write the record.
    if (world_->rank() != roles_.servers.first) return;
    remove_replaced(opening_);
    keep_earlier_record(opening_);
    write_record(opening_.directory, facts(), nullptr, nullptr);
  });
  begin_log();
  stream_openings_ = std::move(stream_openings);  // streams are announced with the first iteration, or never
}

/// Opens the file of messages. The session's earlier messages go into it.
void Session::Implementation::begin_log() {
  const char* const role = roles_.forwarder ? "forwarder" : roles_.server ? "server" : "client";
  const bool sidecar = opening_.placement.mode == PlacementMode::sidecar;
  begin_messages(*log_, opening_, sidecar ? own_files::clients_messages : own_files::run_messages, role,
                 world_->rank());
}

/// Joins the declared meshes. Servers learn of a client's failure.
void Session::Implementation::assemble_meshes() {
  std::exception_ptr failure;
  if (!is_server()) {
    try {
      for (Mesh& mesh : meshes_of(declarations_.axes, *roles_.members)) declarations_.add_mesh(std::move(mesh));
      declarations_.apply_later();
    } catch (const Error&) {
      failure = std::current_exception();
    }
  }
  run_collectively(*world_, [&] {
    if (failure) std::rethrow_exception(failure);
  });
}

/// Clients compare their declarations, which must agree; servers, which declare nothing, get the first client's.
void Session::Implementation::agree_on_declarations() {
  const int first = roles_.clients.first;
  Bytes common = declarations_.encode();
  const Bytes mine = common;
  world_->broadcast(common, first);
  run_collectively(*world_, [&] {
    if (is_server()) {
      declarations_ = Declarations::decode(common);
    } else if (mine != common) {
      const std::string what = difference_of(declarations_, Declarations::decode(common));
      fail(
          Code::usage,
          "rank {} declares other parameters, meshes or variables than rank {}{}{}; make the same declarations on every "
          "client (only blocks may differ)",
          world_->rank(), first, what.empty() ? "" : ", as ", what);
    }
  });
}

/// Refuses events that are counted by client, since another job gets events without their clients.
static void check_counted_events(const Config& config) {
  if (config.opening.placement.mode != PlacementMode::job) return;
  for (const TaskConfig& task : config.tasks) {
    if (task.schedule.from == EventFrom::any) continue;
    task.settings.fail("from",
                       "found it with 'placement: job', expected none: the endpoint does not know which clients "
                       "raised an event; remove it, and let all clients call signal_barrier if all are to have "
                       "come");
  }
}

void Session::Implementation::configure() {
  run_collectively(*world_, [&] {
    const int pretended = opening_.placement.pretend_nodes;
    if (!is_off()) {
      add_needed_modules(modules_, *document_, registry_);
      // Servers of a sidecar send no streams. So their clients refuse them, too.
      if (opening_.placement.mode != PlacementMode::sidecar) add_stream_outputs(registry_, streams_);
    }
    config_ = complete_config(*document_, registry_, declarations_, streams_.get());
    config_.opening.placement.pretend_nodes = pretended;
    config_.opening.placement.spill = opening_.placement.spill;
    published_ = published_part(config_.metadata);
    check_counted_events(config_);
  });
  for (const std::string& former : declarations_.former_attributes) {
    if (world_->rank() != roles_.clients.first) break;
    log::warning("the attribute '{}' of variables is called '{}' now; give it by that name", former,
                 current_attribute(former));
  }
  world_->barrier();
  origin_ = now();
  started_ = time_of_day();
}

/// Divides the servers into the groups of the placement, if any. Each group must suit the partitioner.
void Session::Implementation::divide_servers() {
  if (is_off()) return;
  settle_groups(*world_, roles_, config_);
  const PlacementConfig& placement = config_.opening.placement;
  if (opening_.placement.mode != PlacementMode::sidecar) join_group(roles_, placement);
  run_collectively(*world_, [&] {
    if (placement.mode != PlacementMode::nodes || placement.forward == Forward::partials) return;
    const AssignmentRules use{&registry_.partitioners().at(placement.partitioner), placement.partitioner_settings,
                              false};
    if (placement.groups.empty()) check_partitioner(use, config_.metadata, roles_.servers.count);
    for (const ServerGroup& group : placement.groups) check_partitioner(use, config_.metadata, group.size);
  });
}

/// Makes the tables on ranks that have rows.
void Session::Implementation::make_tables() {
  if (is_off() || !config_.opening.timings) return;
  const bool sidecar = opening_.placement.mode == PlacementMode::sidecar;
  RunTables::Kinds kinds;
  kinds.moves = opening_.placement.mode == PlacementMode::nodes;
  run_collectively(*world_, [&] {
    tables_ = std::make_unique<RunTables>(opening_.directory, world_->rank(), world_->size(),
                                          sidecar ? client_tables : kinds);
  });
}

EndingSource Session::Implementation::ending_source() const {
  const auto event = std::find(config_.events.begin(), config_.events.end(), ending_event);
  if (!ending_ || event == config_.events.end()) return {};
  return {[watch = ending_.get()] { return watch->asked(); }, [watch = ending_.get()] { watch->tell(); },
          std::uint64_t{1} << (event - config_.events.begin())};
}

/// Bits of the events that servers count by client, because a task has the option `from`.
static std::uint64_t counted_events(const Config& config) {
  std::uint64_t bits = 0;
  for (const TaskConfig& task : config.tasks) {
    if (task.schedule.from == EventFrom::any) continue;
    const auto event = std::find(config.events.begin(), config.events.end(), task.schedule.event);
    bits |= std::uint64_t{1} << (event - config.events.begin());
  }
  return bits;
}

void Session::Implementation::make_publisher() {
  const PlacementMode mode = opening_.placement.mode;
  const bool tells = mode == PlacementMode::sidecar && roles_.members->rank() == 0;
  std::function<void(const Publisher&)> take;
  if (tables_) take = [this](const Publisher& publisher) { tables_->take(publisher); };
  publisher_ = std::make_unique<Publisher>(
      published_, config_.events, config_.steering,
      Publisher::Options{is_off(), config_.opening.timings && !is_off(), config_.opening.stop_on_error,
                         roles_.members->rank(), roles_.node, roles_.on_node.clients, counted_events(config_), origin_,
                         config_.steering_ahead, std::move(take), tells, mode == PlacementMode::nodes, ending_source(),
                         opening_.placement.max_in_flight});
  declare_blocks(*publisher_, declarations_);
}

/// Creates the serving part. Failures are collective on servers, and clients learn of them.
void Session::Implementation::make_serving() {
  const bool reduces = roles_.forwarder && opening_.placement.forward == Forward::partials;
  const bool serves = roles_.server || reduces || opening_.placement.mode == PlacementMode::inline_;
  std::exception_ptr failure;
  if (serves) {
    try {
      begin_streams(*streams_, *roles_.members);  // the streams of all groups are one session's
      serving_ = std::make_unique<Serving>(
          Serving::Group{own_members(roles_), roles_.group}, config_, registry_,
          WorkerSource{text_, file_, folder_, declarations_.encode(), modules_.files}, reduces,
          [&](const auto& folder) { choose_stream_tasks(*streams_, config_, roles_.group, registry_, folder); });
    } catch (const Error&) {
      failure = std::current_exception();
    }
  }
  run_collectively(*world_, [&] {
    if (failure) std::rethrow_exception(failure);
  });
}

void Session::Implementation::begin_serving() {
  if (tables_ && transports_.forwarder) {
    transports_.forwarder->set_sent(
        [this](std::int64_t index, std::uint64_t bytes) { tables_->take_sent(index, bytes); });
  }
  if (!serving_) return;
  // With `job` the endpoint runs the analyses.
  const bool answers = opening_.placement.mode != PlacementMode::job;
  serving_->begin(
      {transports_.server.get(), transports_.sender.get(), transports_.receiver.get(), config_.events, 0, origin_,
       roles_.node, roles_.clients.count, true, gaps_,
       tables_ ? rows_to(*tables_, roles_, world_->rank() == recording_rank(), config_.live.requests) : LedgerRows{},
       answers, true, false, nullptr, ending_.get()});
}

void Session::Implementation::start() {
  if (is_over()) fail_ended("start");
  if (is_server()) fail(Code::usage, "start: this rank is a server; call serve instead");
  if (state_ != State::open) fail(Code::usage, "start: the session has started already; call it once");
  const OwnEnvironment environment;
  const LogScope scope = logging();
  state_ = State::ended;  // for an exception below, on every rank alike
  jointly([&] {
    if (!vote(Vote::start)) fail(Code::internal, "start: a vote to start was counted as one to cancel");
    begin_together();
  });
  // Many blocks take more messages than there is room for, so a client may wait here for servers. These have left the
  // joint work by then: only clients agree. If it fails, servers wait for all clients to close.
  state_ = State::failed;
  run_collectively(*roles_.members, [&] {
    if (is_off()) return;
    publisher_->attach(*transports_.client);
    publish_spectral_blocks(*publisher_, declarations_);
  });
  state_ = State::started;
}

void Session::Implementation::serve() {
  if (state_ == State::ended && mpi_is_finalized()) fail_ended("serve");
  if (!is_server()) fail(Code::usage, "serve: this rank is a client; serve only where is_server says so");
  if (state_ != State::open) fail(Code::usage, "serve: the session has been served already; call it once");
  const OwnEnvironment environment;
  const LogScope scope = logging();
  const std::vector<int>& watched = opening_.ending.signals;
  std::optional<SigtermIgnored> ignored;
  if (std::find(watched.begin(), watched.end(), SIGTERM) == watched.end()) ignored.emplace();
  state_ = State::ended;
  bool starts = false;
  jointly([&] {
    starts = vote(Vote::start);
    if (starts) begin_together();
  });
  if (!starts) return;
  state_ = State::started;
  if (transports_.forwarder) return transports_.forwarder->run();
  serving_->run();
}

}  // namespace sidestream
