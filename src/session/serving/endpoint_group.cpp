// The main of `sidestream endpoint`: servers of another job that read a stream.
//
// 1. configure: the file is read on rank 0 and parsed everywhere. divide: groups of processes, each with its own
//    stream.
// 2. The stream's server waits for the simulation; declare joins its declarations with the file's.
// 3. check_record: a record of the same session means that this endpoint continues what another began.
// 4. work: each group serves by itself until its stream ends. If one fails, or its writer dies, it raises a flag that
//    makes the others leave.
// 5. finish: all groups write tables and the record together, then throw what failed.
// Steps 1 to 3 and 5 are collective over all processes.
#include "session/serving/attached_groups.hpp"

#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/mpi/abort_flag.hpp"
#include "base/mpi/agree.hpp"
#include "base/mpi/joint_work.hpp"
#include "base/own_environment.hpp"
#include "base/paths.hpp"
#include "base/run_log.hpp"
#include "base/time_of_day.hpp"
#include "config/options/document.hpp"
#include "config/stream_config.hpp"
#include "config/tasks/tasks.hpp"
#include "session/opening/modules.hpp"
#include "session/serving/record.hpp"
#include "session/serving/run_tables.hpp"
#include "session/serving/server_groups.hpp"
#include "session/serving/serving.hpp"
#include "session/serving/streams.hpp"
#include "sidestream/extend/stream.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/base/wait_notes.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "storage/files/output_directory.hpp"

namespace sidestream {

namespace {

constexpr RecordNames record_names{own_files::endpoint_record, own_files::endpoint_timings, own_files::endpoint_lock};
constexpr const RunTable &timings = endpoint_tables.timings, &movement = endpoint_tables.movement,
                         &iterations = endpoint_tables.iterations;

class Endpoint {
 public:
  Endpoint(MpiCommunicator& all, const AttachOptions& options) : all_(all), options_(options) {}

  /// Runs the endpoint. The error that ends it is printed by the command, and logged among the run's messages.
  void run() try {
    const LogScope logging(log_);
    jointly(all_, [&] {
      streams_ = std::make_shared<StreamContext>();
      configure();
      divide();
      server_ =
          registry_.streams().at(stream_name).reader(stream_, group(), options_.wait, [this] { return must_leave(); });
      declare();
      check_record();
      begin_streams(*streams_, all_);
      serving_ = std::make_unique<Serving>(
          Serving::Group{group(), roles_.group}, config_, registry_,
          WorkerSource{text_, options_.file, folder_, server_->declarations(), modules_.files});
      run_collectively(all_, [&] {
        if (all_.rank() == 0) {
          remove_earlier_records(config_.opening,
                                 {timings.file, movement.file, iterations.file, own_files::endpoint_messages});
          settle_part_files(config_.opening, {timings, movement, iterations});
        }
        write(nullptr);
        if (!config_.opening.timings) return;
        tables_ = std::make_unique<RunTables>(config_.opening.directory, all_.rank(), all_.size(), endpoint_tables);
      });
      begin_messages(*log_, config_.opening, own_files::endpoint_messages, "server", all_.rank());
    });
    const std::exception_ptr failed = work();
    JointWork joint(all_, roles_.group_members.get());
    joint.run([&] {
      finish();
      run_collectively(all_, [&] {
        if (failed) std::rethrow_exception(failed);
      });
    });
  } catch (const Error& error) {
    if (all_.rank() == 0) log_->add("error", error.what());
    throw;
  }

 private:
  /// The processes that read one stream together.
  [[nodiscard]] MpiCommunicator& group() { return roles_.group_members ? *roles_.group_members : all_; }
  [[nodiscard]] bool must_leave() {
    return (options_.stop && options_.stop()) || (ending_ && ending_->is_over()) ||
           (abort_flag_ && abort_flag_->is_raised());
  }

  /// The streams of all groups.
  [[nodiscard]] std::vector<StreamConfig> all_streams() const {
    return streams_for(stream_, opening_.placement.groups);
  }

  /// Divides the processes into the groups of the configuration, each with its own stream.
  void divide() {
    const std::vector<ServerGroup>& groups = opening_.placement.groups;
    if (groups.empty()) return;
    join_group_of_endpoint(all_, roles_, opening_.placement, written_tasks(*document_));
    stream_.group = groups[roles_.group].name;
    std::vector<int> leaders;
    int first = 0;
    for (const ServerGroup& one : groups) leaders.push_back(std::exchange(first, first + one.size));
    abort_flag_ = std::make_unique<AbortFlag>(all_, leaders);
  }

  /// Runs until the stream ends. Not collective over the groups. Returns this group's error, if any. The other groups
  /// then end, too. They also end if this group's sender has died, so that another endpoint may replace all.
  std::exception_ptr work() {
    std::exception_ptr failed;
    try {
      serve();
      // Some processes of this group's sender may only be stopped. As long as the group counts as the stream's reader,
      // a stopped sender would wait for its answer, the clients for the sender, and the other groups for the clients.
      if (abort_flag_ && server_->writer_died()) abort_flag_->raise();
    } catch (...) {
      failed = std::current_exception();
      if (!abort_flag_) throw;
      abort_flag_->raise();
    }
    if (abort_flag_) abort_flag_->settle();
    return failed;
  }

  void serve() {
    {
      WaitNote note(all_.rank() == 0, "the first iteration of the simulation");  // this endpoint begins there
      for (; server_->current() < 0 && !server_->has_ended(); note.check()) {
        server_->receive(std::chrono::milliseconds(100));
      }
    }
    jointly(group(), [&] {
      attach_streams(*streams_, *server_);
      const std::int64_t first = std::max<std::int64_t>(0, server_->current());
      started_ = time_of_day();
      serving_->begin({server_.get(), nullptr, nullptr, config_.events, first, now(), -1, 0, false, false,
                       tables_ ? rows_to(*tables_, roles_, all_.rank() == 0, config_.live.requests) : LedgerRows{},
                       true, true, true,  // its processes receive together
                       nullptr, ending_.get()});
    });
    serving_->run();
  }

  void configure() {
    run_collectively(all_, [&] {
      if (all_.rank() == 0) text_ = read_configuration_file(options_.file, "correct the path");
    });
    share_text(all_, text_);
    folder_ = common_folder(all_);
    run_collectively(all_, [&] {
      document_ = parse_document(text_, options_.file, folder_);
      opening_ = read_opening(*document_);
      if (opening_.placement.mode != PlacementMode::job && (options_.stream.empty() || options_.from.empty())) {
        fail(Code::configuration,
             "{}: found the placement '{}', expected 'job', whose 'stream' says what to read; change it, or give "
             "--stream and --from",
             options_.file, name_of(opening_.placement.mode));
      }
      stream_ = read_stream(opening_.placement.stream);
      // A stream other than the placement's is single, and all processes read it together.
      const bool other = opening_.placement.mode != PlacementMode::job || !options_.stream.empty();
      if (other) opening_.placement.groups.clear();
      if (!options_.stream.empty()) stream_.name = options_.stream;
      if (!options_.from.empty()) stream_.directory = path_from(folder_, options_.from);
      register_built_in(registry_);
      streams_->reads = true;
      load_streams("stream", *document_, folder_, registry_);
      add_stream_outputs(registry_, streams_);
      modules_ = load_plugins(opening_, *document_, folder_, registry_);
      // A misspelt name is told at once; the simulation may come much later.
      add_needed_modules(modules_, *document_, registry_);
      check_task_names(*document_, registry_);
    });
    // The time limit belongs to the simulation's job. A signal may be meant for both jobs, so this one continues for a
    // while.
    EndingConfig signals = opening_.ending;
    signals.limit = 0;
    signals.end_of_job = false;
    ending_ = watch_for_end(all_, signals, false);
    if (all_.rank() != 0) return;
    for (const std::string& former : opening_.former_names) log::warning("{}", former);
  }

  /// Joins the declarations of the simulation and of this file.
  void declare() {
    run_collectively(all_, [&] {
      const Declarations there = Declarations::decode(server_->declarations());
      config_ = complete_config(*document_, registry_, there, streams_.get());
      if (!options_.directory.empty()) config_.opening.directory = path_from(folder_, options_.directory);
      config_.opening.placement.mode = PlacementMode::inline_;  // the tasks run here
      config_.opening.placement.groups = opening_.placement.groups;
      server_->translate(there.metadata, config_.metadata, config_.events);
    });
  }

  /// Checks earlier results: an endpoint that takes over continues the last endpoint's. Results of another session
  /// belong to an earlier run.
  void check_record() {
    std::int64_t resume = 0;
    run_collectively(all_, [&] {
      if (all_.rank() != 0) return;
      const auto path = std::filesystem::path(config_.opening.directory) / record_names.record;
      std::ostringstream text;
      if (std::ifstream in(path); in) text << in.rdbuf();
      if (line_of(text.str(), "placement") == placement_text(server_->session())) {
        resume = 1;  // the last endpoint is gone, since a stream has one reader at a time
        return;
      }
      directory_lock_ = std::make_unique<DirectoryLock>(config_.opening.directory, record_names.lock);
      refuse_earlier_run(config_.opening, record_names);
    });
    all_.maximum(std::span(&resume, 1));
    if (!resume) return;
    config_.opening.existing = Existing::resume;
    config_.opening.same_session = true;
  }

  static std::string placement_text(std::uint64_t session) {
    return fmt::format("endpoint of session {:016x}", session);
  }

  /// Writes the record on rank 0, without communication.
  void write(const Ledger* ledger) {
    if (all_.rank() != 0) return;
    const RunFacts facts{options_.file, text_, placement_text(server_->session()), 0,
                         all_.size(),   0,     config_.opening.placement.groups,   started_};
    const Account account = ledger ? account_of(*ledger) : Account{};
    write_record(config_.opening.directory, facts, ledger ? &account : nullptr, ledger, record_names);
  }

  bool write_table(const RunTable& table, RowSpool& rows) {
    return write_run_table_together(all_, {all_.rank(), 0}, config_.opening.directory, table, rows,
                                    config_.opening.existing == Existing::resume);
  }

  void write_tables(const Ledger& mine) {
    const std::optional<Ledger> joint = join_ledgers(all_, roles_, config_.opening.placement, &mine, 0);
    const bool first = all_.rank() == 0;
    bool listed = false;
    if (tables_) {
      tables_->take(mine);
      if (first && joint->gathers()) tables_->iterations.add(iteration_rows(joint->iterations()));
      write_table(timings, tables_->timings);
      write_table(movement, tables_->movement);
      listed = write_table(iterations, tables_->iterations);
    }
    attempt_record(all_, [&] {
      if (first) write(&*joint);
    });
    if (!first) return;
    const Account account = account_of(*joint);
    warn_of_losses(account, joint->skipped_tasks, listed ? iterations.file : "");
    std::string streams;
    for (const StreamConfig& one : all_streams()) {
      streams += fmt::format("{}'{}'", streams.empty() ? "" : ", ", one.path());
    }
    log::info("read the stream{} {}: {}", config_.opening.placement.groups.empty() ? "" : "s", streams,
              closing_text(account, config_.opening.directory));
  }

  /// Writes the records, unless a group failed before it began.
  void finish() {
    std::int64_t begun = serving_->has_begun();
    all_.minimum(std::span(&begun, 1));
    if (begun) {
      serving_->report();
      write_tables(serving_->ledger());
    }
    std::int64_t died = server_->writer_died();
    all_.maximum(std::span(&died, 1));
    if (died) {
      fail(Code::system, "the simulation that wrote the stream '{}' died; the results have all that it had handed over",
           stream_.path());
    }
  }

  std::shared_ptr<RunLog> log_ = std::make_shared<RunLog>();
  MpiCommunicator& all_;
  const AttachOptions& options_;
  std::string text_;
  std::string started_;  ///< the time of day at the start
  std::string folder_;   ///< working directory of the first process at its start: the base of relative paths
  std::shared_ptr<const Document> document_;
  OpeningConfig opening_;
  std::unique_ptr<EndingWatch> ending_;    ///< null: a signal makes this endpoint leave at once
  StreamConfig stream_;                    ///< the stream that this process reads
  Roles roles_;                            ///< only its group is used, if there are groups
  std::unique_ptr<AbortFlag> abort_flag_;  ///< shared by the groups: raised when one has failed
  Registry registry_;
  ModuleFiles modules_;
  std::shared_ptr<StreamContext> streams_;
  Config config_;
  std::unique_ptr<DirectoryLock> directory_lock_;  ///< on rank 0
  std::shared_ptr<StreamReader> server_;
  std::unique_ptr<RunTables> tables_;  ///< only with `timings`
  std::unique_ptr<Serving> serving_;
};

}  // namespace

void run_endpoint(MPI_Comm comm, const AttachOptions& options) {
  MpiCommunicator group(comm);
  make_together<Endpoint>(group, group, options)->run();
}

}  // namespace sidestream
