// Starting a session: everybody agrees on what exists, then the wings are wired together.
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/agree.hpp"
#include "base/fail.hpp"
#include "base/timer.hpp"
#include "client/implementation.hpp"
#include "client/record.hpp"
#include "client/serving.hpp"
#include "client/sidecar_start.hpp"
#include "sidestream/version.h"

namespace sidestream {

namespace {

/// SIGTERM is ignored while this lives: a server ends when its clients do, so that what they published is kept.
/// Blocking it in this thread would not do, because MPI has threads of its own that would be given the signal.
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

/// Whether everybody wants to start. False: everybody cancelled. Throws if they differ.
bool Session::Implementation::vote(Wish wish) {
  std::int64_t lowest = static_cast<std::int64_t>(wish), highest = lowest;
  world_->minimum(std::span(&lowest, 1));
  world_->maximum(std::span(&highest, 1));
  if (highest == static_cast<std::int64_t>(Wish::cancel)) return false;
  if (lowest == highest) return true;
  fail(
      Code::usage,
      "the session was closed on some ranks before it started, and started on others; call start, or publish, on every "
      "client, and serve on every server");
}

void Session::Implementation::begin_together() {
  settle_down(*world_, roles_, opening_.placement);
  agree_on_declarations();
  configure();
  // Over all ranks: servers must not go on to the next collective step if a client's blocks are wrong.
  together(*world_, [&] {
    if (!is_server()) make_publisher();
  });
  check_blocks();
  if (is_off()) {
    wires_ = make_wires(*world_, roles_, opening_.placement, config_.metadata, {});
    publisher_->attach(*wires_.client);
    return;
  }
  make_tasks();
  if (opening_.placement.mode == PlacementMode::sidecar) {
    wires_ = make_sidecar_wires(*world_, roles_, config_, declarations_, file_, publisher_->sizes());
  } else {
    wires_ = make_wires(*world_, roles_, config_.opening.placement, config_.metadata,
                        publisher_ ? publisher_->sizes() : std::vector<BlockBytes>{});
  }
  if (wires_.server) wires_.server = attach_streams(streams_, wires_.server);
  make_engine();
  // Only now is it a run that a later one must not overwrite.
  together(*world_, [&] {
    // With `sidecar` the servers, another job, write it.
    if (roles_.server_ranks.empty() || world_->rank() != roles_.server_ranks.front()) return;
    write_record(opening_.directory, facts(), nullptr, nullptr);
  });
  if (publisher_) publisher_->attach(*wires_.client);
}

/// Clients compare what is to be the same on all of them; servers, which declare nothing, get it from the first client.
void Session::Implementation::agree_on_declarations() {
  const int first = roles_.client_ranks.front();
  Bytes common = declarations_.encode();
  const Bytes mine = common;
  world_->broadcast(common, first);
  together(*world_, [&] {
    if (is_server()) {
      declarations_ = Declarations::decode(common);
    } else if (mine != common) {
      fail(
          Code::usage,
          "rank {} declares other parameters, meshes or variables than rank {}; make the same declarations on every client "
          "(blocks alone may differ)",
          world_->rank(), first);
    }
  });
}

void Session::Implementation::configure() {
  together(*world_, [&] {
    const int pretended = opening_.placement.pretend_nodes;
    config_ = read_config(*document_, registry_, declarations_.parameters, declarations_.metadata);
    config_.opening.placement.pretend_nodes = pretended;
    declare_to_streams(*streams_, config_, declarations_);
    declarations_.apply_attributes(config_.metadata);
    const PlacementConfig& placement = config_.opening.placement;
    if (placement.mode != PlacementMode::nodes || placement.forward == Forward::partials) return;
    check_partitioner({&registry_.partitioners().at(placement.partitioner), placement.partitioner_settings, false},
                      config_.metadata, static_cast<int>(roles_.server_ranks.size()));
  });
  world_->barrier();
  origin_ = now();
}

void Session::Implementation::make_publisher() {
  publisher_ =
      std::make_unique<Publisher>(config_.metadata, config_.events,
                                  Publisher::Options{is_off(), config_.opening.timings && !is_off(),
                                                     config_.opening.stop_on_error, roles_.members->rank(), origin_});
  for (const auto& block : declarations_.blocks) {
    if (block.removed) {
      publisher_->remove_block(block.mesh, block.id);
    } else {
      publisher_->set_block(block.mesh, block.id, block.cells);
    }
  }
  for (const auto& box : declarations_.allocated) publisher_->set_allocated(box.variable, box.id, box.box);
}

/// Ids must be unique over all clients: two blocks of one id would be taken for one.
void Session::Implementation::check_blocks() {
  if (is_server()) {
    together(*world_, [] {});
    return;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> mine;
  std::set<std::pair<std::int64_t, std::int64_t>> unique;
  for (const BlockBytes& one : publisher_->sizes()) unique.emplace(one.block.mesh, one.block.id);
  mine.assign(unique.begin(), unique.end());
  const std::vector<Bytes> all = roles_.members->gather(std::as_bytes(std::span(mine)), 0);
  together(*world_, [&] {
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (const Bytes& part : all) {
      std::vector<std::pair<std::int64_t, std::int64_t>> ids(part.size() / sizeof mine[0]);
      if (!ids.empty()) std::memcpy(static_cast<void*>(ids.data()), part.data(), part.size());
      for (const auto& id : ids) {
        if (seen.insert(id).second) continue;
        fail(Code::usage, "two clients declare block {} of the mesh '{}'; give every block of a mesh an id of its own",
             id.second, config_.metadata.meshes[static_cast<std::size_t>(id.first)].name);
      }
    }
  });
}

void Session::Implementation::make_tasks() {
  const bool reduces = roles_.forwarder && opening_.placement.forward == Forward::partials;
  const bool serving = roles_.server || reduces || opening_.placement.mode == PlacementMode::inline_;
  if (serving) servers_ = std::make_unique<MpiCommunicator>(roles_.members->comm());
  if (serving) begin_streams(*streams_, *servers_);
  together(*world_, [&] {
    if (!serving) return;
    const std::string provenance =
        "Sidestream " SIDESTREAM_VERSION "; the configuration is in run.yaml beside the results";
    directory_ = open_output_directory(opening_.directory, provenance, opening_.existing == Existing::resume);
    results_ = make_result_store(registry_, directory_, reduces ? 1 : servers_->rank(),
                                 opening_.existing == Existing::resume);  // results come from who combines
  });
  together(*world_, [&] {
    if (!serving) return;
    choose_stream_tasks(*streams_, config_, registry_, directory_);
    tasks_ = sidestream::make_tasks(config_, registry_, directory_);
  });
  for (Task& task : tasks_) task.set_communicator(std::make_unique<MpiCommunicator>(servers_->comm()));
}

void Session::Implementation::make_engine() {
  if (!servers_) return;
  const auto results = [this](const Iteration& iteration) { return results_->begin(iteration); };
  if (wires_.receiver) {
    combiner_ = std::make_unique<Combiner>(
        CombinerParts{config_.metadata, *wires_.receiver, tasks_, results, origin_, config_.opening.timings});
    return;
  }
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    tasks_[t].set_sender(wires_.sender.get(), static_cast<std::int32_t>(t));
  }
  const PlacementConfig& placement = config_.opening.placement;
  MovementRules movement{&registry_.partitioners().at(placement.partitioner), placement.partitioner_settings,
                         placement.move_all};
  std::vector<std::string> task_events;
  for (const TaskConfig& task : config_.tasks) task_events.push_back(task.schedule.event);
  engine_ = std::make_unique<Engine>(EngineParts{config_.metadata, config_.events, *wires_.server, *servers_, tasks_,
                                                 results, std::move(task_events), origin_, config_.opening.timings,
                                                 std::move(movement)});
  const auto take_in = [transport = wires_.server.get()] { transport->receive(std::chrono::microseconds(0)); };
  if (wires_.sender) wires_.sender->set_meanwhile(take_in);
}

void Session::Implementation::start() {
  if (is_server()) fail(Code::usage, "start: this rank is a server; call serve instead");
  if (state_ != State::open) fail(Code::usage, "start: the session has started already; call it once");
  state_ = State::ended;  // if what follows throws, on every rank alike
  if (!vote(Wish::start)) fail(Code::internal, "start: a vote to start was counted as one to cancel");
  begin_together();
  state_ = State::started;
}

void Session::Implementation::serve() {
  if (!is_server()) fail(Code::usage, "serve: this rank is a client; serve only where is_server says so");
  if (state_ != State::open) fail(Code::usage, "serve: the session has been served already; call it once");
  const SigtermIgnored ignored;
  state_ = State::ended;
  if (!vote(Wish::start)) return;
  begin_together();
  state_ = State::started;
  if (wires_.forwarder) return wires_.forwarder->run();
  if (combiner_) return combiner_->run();
  engine_->run();
  if (wires_.sender) wires_.sender->close();
}

Account Session::Implementation::close() {
  if (mpi_is_finalized()) fail(Code::usage, "close: MPI is finalized already; close sessions before MPI_Finalize");
  if (state_ == State::open) {
    // Nobody waits for ever: whoever starts or serves learns that this rank does not.
    state_ = State::ended;
    // If others start, they throw, and so does this rank's vote; the session is freed all the same.
    try {
      static_cast<void>(vote(Wish::cancel));
    } catch (...) {
      free_everything();
      throw;
    }
    free_everything();
    return {};
  }
  if (state_ == State::started) {
    if (publisher_) {
      publisher_->drain(config_.opening.drain_limit);
      if (engine_) {
        while (engine_->step()) {
        }
      }
    }
    if (!is_off()) write_timings();
  }
  const Account account = this->account();
  free_everything();
  return account;
}

}  // namespace sidestream
