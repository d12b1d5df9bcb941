#include "client/sidecar_group.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/register.hpp"
#include "base/agree.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/timer.hpp"
#include "client/declarations.hpp"
#include "client/record.hpp"
#include "client/roles.hpp"
#include "client/serving.hpp"
#include "client/sidecar_notes.hpp"
#include "config/plugin_loader.hpp"
#include "partition/register.hpp"
#include "storage/register.hpp"
#include "transport/shared_memory/sidecar_server.hpp"

namespace sidestream {

namespace {

using shared_memory::Attachment;
using shared_memory::DoorHello;
using shared_memory::DoorSay;

/// A group whose predecessor was killed waits so long for it to disappear.
constexpr double busy_limit = 5;

void pause(double seconds) {
  const timespec time{0, static_cast<long>(seconds * 1e9)};
  nanosleep(&time, nullptr);
}

class Group {
 public:
  Group(MPI_Comm comm, const SidecarOptions& options) : world_(comm), options_(options) {}
  void run();

 private:
  void read_configuration();
  void find_place();
  [[nodiscard]] bool attach();
  void compare_nodes();
  void configure();
  void check_declarations(const Declarations& declared);
  [[nodiscard]] bool join(shared_memory::SidecarServer& server, std::int64_t& first);
  void serve();
  void finish(bool died);
  [[nodiscard]] bool anybody(bool flag);
  [[nodiscard]] RunFacts facts() const;

  MpiCommunicator world_;
  const SidecarOptions& options_;
  std::string text_;
  std::shared_ptr<const Document> document_;
  OpeningConfig opening_;
  Registry registry_;
  std::unique_ptr<MpiCommunicator> node_members_;
  int pretended_ = -1;
  std::shared_ptr<Attachment> attachment_;
  SidecarNotes notes_;
  Config config_;
  std::unique_ptr<Serving> serving_;
};

bool Group::anybody(bool flag) {
  std::int64_t any = flag;
  world_.maximum(std::span(&any, 1));
  return any != 0;
}

void Group::read_configuration() {
  together(world_, [&] {
    if (world_.rank() != 0) return;
    std::ifstream in(options_.file, std::ios::binary);
    std::ostringstream text;
    if (in) text << in.rdbuf();
    if (!in) {
      fail(Code::configuration, "{}: cannot read the configuration ({}); give the file that the simulation uses",
           options_.file, std::strerror(errno));
    }
    text_ = text.str();
  });
  Bytes bytes(text_.size());
  std::memcpy(bytes.data(), text_.data(), text_.size());
  world_.broadcast(bytes, 0);
  text_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  together(world_, [&] {
    document_ = parse_document(text_, options_.file);
    opening_ = read_opening(*document_);
    opening_.placement.pretend_nodes = pretended_nodes(opening_.placement.pretend_nodes);
    if (opening_.placement.mode != PlacementMode::sidecar) {
      fail(Code::configuration,
           "{}: the placement is '{}', expected 'sidecar': only then are servers processes of their own", options_.file,
           name_of(opening_.placement.mode));
    }
    register_analyses(registry_);
    register_storage(registry_);
    register_partitioners(registry_);
    for (const auto& [path, where] : opening_.plugins) load_plugin(path, where, registry_);
  });
}

void Group::find_place() {
  const PlacementConfig& placement = opening_.placement;
  Roles roles = assign_roles(world_, placement);
  node_members_ = std::move(roles.node_members);
  pretended_ = placement.pretend_nodes > 0 ? roles.node : -1;
  together(world_, [&] {
    if (node_members_->size() == placement.per_node) return;
    fail(Code::configuration,
         "{} server processes run on a node, expected {} (placement.per_node); start as many on each node of the "
         "simulation",
         node_members_->size(), placement.per_node);
  });
}

/// False: told to stop before there was anything to attach to.
bool Group::attach() {
  DoorHello hello;
  hello.build = shared_memory::door_build();
  hello.place = static_cast<std::uint32_t>(node_members_->rank());
  Bytes id(sizeof hello.group);
  if (world_.rank() == 0) {
    hello.group = shared_memory::random_id();
    std::memcpy(id.data(), &hello.group, sizeof hello.group);
  }
  world_.broadcast(id, 0);
  std::memcpy(&hello.group, id.data(), sizeof hello.group);
  const std::string& session = opening_.placement.session;
  const std::string name = shared_memory::door_name(session, pretended_);
  const double start = now();
  bool stopped = false;
  together(world_, [&] {
    while (!(stopped = options_.stop && options_.stop())) {
      Attachment::Knock knock = Attachment::knock(name, hello);
      const double waited = now() - start;
      switch (knock.result) {
        case Attachment::Knock::Result::welcome:
          attachment_ = std::move(knock.attachment);
          return;
        case Attachment::Knock::Result::refused:
          fail(Code::configuration, "cannot attach to the session '{}': {}", session, knock.reason);
        case Attachment::Knock::Result::busy:
          if (waited >= std::min(busy_limit, options_.wait)) {
            fail(Code::usage, "cannot attach to the session '{}': {}", session, knock.reason);
          }
          break;
        case Attachment::Knock::Result::nobody:
          if (waited < options_.wait) break;
          fail(Code::usage,
               "no simulation of this user offers the session '{}' on this node ({:g} s waited); start it, correct "
               "placement.session, or wait longer with --wait",
               session, options_.wait);
      }
      pause(0.02);
    }
  });
  return !anybody(stopped);
}

/// All servers must have come to one simulation and to all its nodes.
void Group::compare_nodes() {
  const auto& answer = attachment_->answer();
  std::vector<int> seen(static_cast<std::size_t>(answer.nodes), 0);
  const std::vector<Bytes> all = world_.all_gather(std::as_bytes(std::span(&answer, 1)));
  together(world_, [&] {
    for (const Bytes& bytes : all) {
      shared_memory::DoorAnswer other;
      std::memcpy(static_cast<void*>(&other), bytes.data(), sizeof other);
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
  notes_ = SidecarNotes::decode(attachment_->declarations());
  std::int64_t epoch = static_cast<std::int64_t>(attachment_->epoch());
  world_.maximum(std::span(&epoch, 1));
  together(world_, [&] {
    const Declarations declared = Declarations::decode(notes_.declarations);
    const int pretended = opening_.placement.pretend_nodes;
    config_ = read_config(*document_, registry_, declared.parameters, declared.metadata);
    declared.apply_attributes(config_.metadata);
    check_declarations(declared);
    OpeningConfig& opening = config_.opening;
    opening.placement.pretend_nodes = pretended;
    opening.directory = options_.directory.empty() ? notes_.directory : options_.directory;
    // A second group of one simulation goes on where the first one ended.
    if (epoch > 1) opening.existing = Existing::resume;
    if (world_.rank() == 0) refuse_earlier_run(opening);
  });
  serving_ = std::make_unique<Serving>(world_, config_, registry_);
}

/// Numbers of meshes, variables and events must mean the same on both sides; analyses and outputs may differ.
void Group::check_declarations(const Declarations&) {
  Declarations mine;
  mine.metadata = config_.metadata;
  if (mine.encode() != notes_.metadata) {
    fail(Code::configuration,
         "{}: meshes and variables differ from those of the simulation, which read {}; give both the same sections "
         "meshes and variables (analyses and outputs may differ)",
         options_.file, notes_.file);
  }
  for (const TaskConfig& task : config_.tasks) {
    const std::string& event = task.schedule.event;
    if (event.empty() || std::count(notes_.events.begin(), notes_.events.end(), event) > 0) continue;
    fail(Code::configuration,
         "{}: '{}' runs on the event '{}', which the simulation does not know; name it under `events:` in the "
         "configuration of the simulation, {}",
         options_.file, task.name, event, notes_.file);
  }
}

/// Waits until all clients of all servers have joined and agrees on the first iteration. False: not to be.
bool Group::join(shared_memory::SidecarServer& server, std::int64_t& first) {
  constexpr std::chrono::microseconds slice{10'000};
  const auto stopped = [&] { return server.over() || (options_.stop && options_.stop()); };
  while (!server.joined() && !stopped()) server.receive(slice);
  // Others may still wait for clients that compute: meanwhile those that have joined fill their rings.
  world_.set_meanwhile([&] { server.receive(std::chrono::microseconds(0)); });
  const bool off = anybody(!server.joined());
  first = server.first();
  world_.maximum(std::span(&first, 1));
  world_.set_meanwhile({});
  return !off;
}

RunFacts Group::facts() const {
  return {options_.file,
          text_,
          name_of(PlacementMode::sidecar),
          static_cast<int>(notes_.clients),
          world_.size(),
          attachment_->answer().nodes};
}

void Group::serve() {
  attachment_->say(DoorSay::go);
  const double origin = now();
  shared_memory::SidecarServer server(attachment_);
  std::int64_t first = 0;
  if (join(server, first)) {
    server.start_at(first);
    together(world_, [&] {
      if (world_.rank() == 0) write_record(config_.opening.directory, facts(), nullptr, nullptr);
    });
    serving_->begin(server, notes_.events, first, origin);
    serving_->engine().run([&] { return options_.stop && options_.stop(); });
  }
  const bool died = anybody(attachment_->ended() && !attachment_->closed());
  attachment_->say(DoorSay::leave);
  finish(died);
}

void Group::finish(bool died) {
  std::string rows;
  const Ledger* ledger = nullptr;
  if (serving_->has_begun()) {
    ledger = &serving_->engine().ledger();
    serving_->engine().report();
    if (config_.opening.timings) rows = server_rows(world_.rank(), *ledger);
  }
  const std::vector<Bytes> all = world_.gather(std::as_bytes(std::span(rows)), 0);
  together(world_, [&] {
    if (!ledger || world_.rank() != 0) return;
    std::vector<std::string> texts;
    for (const Bytes& part : all) texts.emplace_back(reinterpret_cast<const char*>(part.data()), part.size());
    const std::string& directory = config_.opening.directory;
    if (config_.opening.timings) {
      write_run_table(directory, timings_table, texts, config_.opening.existing == Existing::resume);
    }
    Account account;
    account.iterations = ledger->delivered + ledger->refused;
    account.delivered = ledger->delivered;
    account.refused = ledger->refused;
    account.failed = ledger->failed;
    account.absent_blocks = ledger->absent_blocks;
    write_record(directory, facts(), &account, ledger);
  });
  together(world_, [&] {
    if (!died) return;
    fail(Code::system,
         "the simulation of the session '{}' has ended without closing; what all its ranks had ended was finished",
         opening_.placement.session);
  });
}

void Group::run() {
  read_configuration();
  find_place();
  if (!attach()) return;
  compare_nodes();
  configure();
  serve();
}

}  // namespace

void serve_sidecar(MPI_Comm comm, const SidecarOptions& options) { Group(comm, options).run(); }

}  // namespace sidestream
