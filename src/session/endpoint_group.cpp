#include "session/endpoint_group.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/agree.hpp"
#include "base/fail.hpp"
#include "base/joint_work.hpp"
#include "base/log.hpp"
#include "base/timer.hpp"
#include "base/wait_note.hpp"
#include "config/document.hpp"
#include "config/plugin_loader.hpp"
#include "config/stream_config.hpp"
#include "session/c_analysis.hpp"
#include "session/configuration.hpp"
#include "session/record.hpp"
#include "session/serving.hpp"
#include "session/streams.hpp"
#include "storage/directory_lock.hpp"
#include "transport/staging/server.hpp"
#include "transport/staging/writer.hpp"

namespace sidestream {

namespace {

constexpr RecordNames record_names{own_files::endpoint_record, own_files::endpoint_timings, own_files::endpoint_lock};
constexpr RunTable timings{record_names.timings, timings_table.header};
constexpr RunTable iterations{own_files::endpoint_iterations, iterations_table.header};
constexpr RunTable movement{own_files::endpoint_movement, movement_table.header};

class Endpoint {
 public:
  Endpoint(MpiCommunicator& group, const EndpointOptions& options) : group_(group), options_(options) {}

  void run() {
    std::shared_ptr<staging::Server> server;
    std::unique_ptr<Serving> serving;
    std::optional<WaitNote> note;  // the first iteration says where this endpoint begins
    jointly(group_, [&] {
      streams_ = std::make_shared<staging::StreamContext>();
      configure();
      server = std::make_shared<staging::Server>(stream_, group_, options_.wait, options_.stop);
      declare(*server);
      check_record(server->session());
      begin_streams(*streams_, group_);
      serving = std::make_unique<Serving>(Serving::Group{group_}, config_, registry_,
                                          WorkerSource{text_, options_.file, server->announced().declarations});
      together(group_, [&] { write(*server, nullptr); });
      note.emplace(group_.rank() == 0, "the first iteration of the simulation");
    });
    for (; server->current() < 0 && !server->has_ended(); note->look()) server->receive(std::chrono::milliseconds(100));
    note.reset();
    jointly(group_, [&] {
      static_cast<void>(attach_streams(streams_, server));
      const std::int64_t first = std::max<std::int64_t>(0, server->current());
      serving->begin({server.get(), nullptr, nullptr, config_.events, first, now(), -1, 0, false});
    });
    serving->run();
    jointly(group_, [&] { finish(*server, *serving); });
  }

 private:
  void configure() {
    together(group_, [&] {
      if (group_.rank() == 0) text_ = read_configuration_file(options_.file, "correct the path");
    });
    share_text(group_, text_);
    together(group_, [&] {
      document_ = parse_document(text_, options_.file);
      const OpeningConfig opening = read_opening(*document_);
      if (opening.placement.mode != PlacementMode::job && (options_.stream.empty() || options_.from.empty())) {
        fail(Code::configuration,
             "{}: found the placement '{}', expected 'job', whose 'stream' says what to read; change it, or give "
             "--stream and --from",
             options_.file, name_of(opening.placement.mode));
      }
      stream_ = read_stream(opening.placement.stream);
      if (!options_.stream.empty()) stream_.name = options_.stream;
      if (!options_.from.empty()) stream_.directory = options_.from;
      register_built_in(registry_);
      streams_->reads = true;
      staging::register_streams(registry_, streams_);
      for (const auto& [path, where] : opening.plugins) load_plugin(path, where, registry_, register_c_plugin);
    });
  }

  /// What the simulation declared, joined with what the file here declares.
  void declare(staging::Server& server) {
    together(group_, [&] {
      const Declarations there = Declarations::decode(server.announced().declarations);
      config_ = read_config(*document_, registry_, there.parameters, there.metadata);
      if (!options_.directory.empty()) config_.opening.directory = options_.directory;
      config_.opening.placement.mode = PlacementMode::inline_;  // the tasks run here
      config_.opening.placement.groups.clear();                 // of the simulation's servers
      there.apply_arrays(config_.metadata);
      declare_to_streams(*streams_, config_, there);
      there.apply_attributes(config_.metadata);
      server.translate(there.metadata, config_.metadata, config_.events);
    });
  }

  /// An endpoint that takes over continues what the one before left; results of another session are an earlier run's.
  void check_record(std::uint64_t session) {
    std::int64_t resume = 0;
    together(group_, [&] {
      if (group_.rank() != 0) return;
      const auto path = std::filesystem::path(config_.opening.directory) / record_names.record;
      std::ostringstream text;
      if (std::ifstream in(path); in) text << in.rdbuf();
      if (staging::line_of(text.str(), "placement") == placement_text(session)) {
        resume = 1;  // one reader of a stream at a time: that the one before has gone is known
        return;
      }
      directory_lock_ = std::make_unique<DirectoryLock>(config_.opening.directory, record_names.lock);
      refuse_earlier_run(config_.opening, record_names);
    });
    group_.maximum(std::span(&resume, 1));
    if (!resume) return;
    config_.opening.existing = Existing::resume;
    config_.opening.same_session = true;
  }

  static std::string placement_text(std::uint64_t session) {
    return fmt::format("endpoint of session {:016x}", session);
  }

  /// On rank 0, and without communicating.
  void write(const staging::Server& server, const Ledger* ledger) {
    if (group_.rank() != 0) return;
    const RunFacts facts{options_.file, text_, placement_text(server.session()), 0, group_.size(), 0};
    const Account account = ledger ? account_of(*ledger) : Account{};
    write_record(config_.opening.directory, facts, ledger ? &account : nullptr, ledger, record_names);
  }

  bool write_table(const RunTable& table, const std::string& rows) {
    return write_run_table_together(group_, config_.opening.directory, table, rows,
                                    config_.opening.existing == Existing::resume);
  }

  void finish(const staging::Server& server, Serving& serving) {
    const Ledger& ledger = serving.ledger();
    serving.report();
    const bool first = group_.rank() == 0;
    bool listed = false;
    if (config_.opening.timings) {
      write_table(timings, server_rows(group_.rank(), ledger));
      write_table(movement, movement_rows(group_.rank(), "server", ledger.moved()));
      listed = write_table(iterations, first ? iteration_rows(ledger.iterations()) : std::string());
    }
    leave_record(group_, [&] { write(server, &ledger); });
    if (first) {
      const Account account = account_of(ledger);
      warn_of_losses(account, ledger.skipped_tasks, listed ? iterations.file : "");
      log::info("read the stream '{}': {}", stream_.path(), closing_text(account, config_.opening.directory));
    }
    if (server.writer_died()) {
      fail(Code::system, "the simulation that wrote the stream '{}' died; what it had handed over is in the results",
           stream_.path());
    }
  }

  MpiCommunicator& group_;
  const EndpointOptions& options_;
  std::string text_;
  std::shared_ptr<const Document> document_;
  StreamConfig stream_;
  Registry registry_;
  std::shared_ptr<staging::StreamContext> streams_;
  Config config_;
  std::unique_ptr<DirectoryLock> directory_lock_;  ///< on rank 0
};

}  // namespace

void run_endpoint(MPI_Comm comm, const EndpointOptions& options) {
  MpiCommunicator group(comm);
  make_together<Endpoint>(group, group, options)->run();
}

}  // namespace sidestream
