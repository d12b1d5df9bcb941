// Implementation of a session: state shared by opening, starting, publishing, serving and closing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "base/mpi/finalize_guard.hpp"
#include "base/mpi/joint_work.hpp"
#include "base/run_log.hpp"
#include "client/declarations.hpp"
#include "client/publisher.hpp"
#include "config/config.hpp"
#include "session/ending.hpp"
#include "session/opening/modules.hpp"
#include "session/opening/roles.hpp"
#include "session/opening/wiring.hpp"
#include "session/serving/record.hpp"
#include "session/serving/run_tables.hpp"
#include "session/serving/serving.hpp"
#include "session/serving/streams.hpp"
#include "session/session_access.hpp"
#include "sidestream/sidestream.hpp"
#include "storage/files/output_directory.hpp"
#include "transport/shared_memory/sidecar/attach_protocol.hpp"

namespace sidestream {

/// State machine: open -> started -> ended. A start that fails ends it, too, on all ranks. If the servers have
/// started by then, it is `failed` on the clients: they can only close it, which the servers wait for. Close always
/// works.
class Session::Implementation {
 public:
  /// Opens a session; collective, see opening.cpp. `text` overrides `file`; the environment variable overrides both.
  [[nodiscard]] static std::unique_ptr<Implementation> open(MPI_Comm comm, const std::string& file,
                                                            const std::optional<std::string>& text,
                                                            const EditDocument& edit = {});
  Implementation();  ///< not open yet
  ~Implementation();

  [[nodiscard]] bool is_server() const noexcept { return roles_.server || roles_.forwarder; }
  [[nodiscard]] bool is_off() const noexcept { return opening_.placement.mode == PlacementMode::off; }
  [[nodiscard]] MPI_Comm comm() const noexcept {
    return is_server() || !roles_.members ? MPI_COMM_NULL : roles_.members->comm();
  }
  [[nodiscard]] Registry& registry() noexcept { return registry_; }
  /// The declarations, until start. Throws Error(usage) afterwards, and on a server.
  [[nodiscard]] Declarations& declarations(const char* call);

  /// Declares a box or a list, from the id, level, index space, cells, lengths and bounds of `block`.
  void set_block(const std::string& mesh, const Block& block);
  void set_block_bounds(const std::string& mesh, std::int64_t block, const Bounds& bounds);
  void remove_block(const std::string& mesh, std::int64_t block);
  void replace_blocks(const std::string& mesh, std::vector<Block> blocks);
  void set_allocated(const std::string& variable, std::int64_t block, const Box& box);

  /// Makes the account ignore blocks that are declared but not published, since they are not wanted. Call before start.
  void expect_gaps() noexcept { gaps_ = true; }

  /// Starts the session: clients call start, servers call serve; see starting.cpp. Collective over the session's
  /// communicator.
  void start();
  void serve();
  /// Returns the publisher, after a start if needed. Throws Error(usage) on a server.
  [[nodiscard]] Publisher& publisher(const char* call);
  Taken end_iteration(std::int64_t cycle, double time);
  /// The steered values. Throws Error(usage) on a server, and before the start, which would be collective.
  [[nodiscard]] const SteeredValues& steered(const char* call) const;
  [[nodiscard]] bool should_end() const noexcept { return publisher_ && publisher_->should_end(); }
  /// Closes the session and returns its account. Collective.
  Account close();
  [[nodiscard]] Account account() const { return publisher_ ? publisher_->account() : Account{}; }
  /// The reason why this client refused its iteration; empty if it did not.
  [[nodiscard]] std::string refusal() const { return publisher_ ? publisher_->refusal() : std::string(); }
  /// True if MPI_Finalize found the session open, logged that and closed it.
  [[nodiscard]] bool closed_by_finalize() const noexcept { return finalizing_; }
  /// True if this rank can neither declare nor publish any more.
  [[nodiscard]] bool is_over() const noexcept { return state_ == State::ended || state_ == State::failed; }
  /// Directs messages of this thread to this session's file while the result lives.
  [[nodiscard]] LogScope logging() const noexcept { return LogScope(log_); }

 private:
  /// Runs `work` on all ranks, which may use all communicators. Collective. If it throws on one, it throws on all.
  template <class Work>
  void jointly(Work&& work) {
    JointWork joint(*world_, roles_.members.get(), roles_.node_members.get());
    joint.run(work);
  }
  // Defined in opening.cpp.
  void open_together(const std::string& file, const std::optional<std::string>& text, const EditDocument& edit);
  void read_configuration(const std::string& file, const std::optional<std::string>& text);
  void check_directory();
  void tell_waiting_servers();
  // Defined in closing.cpp.
  [[nodiscard]] Account agree_on_account();
  void leave_records();
  void write_timings();
  void log_finalize();
  void warn_of_open_iteration();
  void close_at_finalize() noexcept;
  void free_all();
  // Defined in starting.cpp.
  enum class Vote : std::int64_t { cancel = 0, start = 1 };
  [[nodiscard]] bool vote(Vote choice);
  [[nodiscard]] std::string late_sentence(Vote choice) const;
  void begin_together();
  void assemble_meshes();
  void agree_on_declarations();
  void configure();
  void divide_servers();
  void make_tables();
  [[nodiscard]] EndingSource ending_source() const;
  void make_publisher();
  void check_blocks();
  void make_serving();
  void begin_serving();
  void begin_log();
  // Defined in implementation.cpp.
  [[noreturn]] void fail_ended(const char* call) const;
  [[nodiscard]] RunFacts facts() const;
  bool write_run_table_of_all(const RunTable& table, RowSpool& rows);
  void take_last_rows();
  [[nodiscard]] const Ledger* ledger() const noexcept;
  [[nodiscard]] int recording_rank() const noexcept;

  std::shared_ptr<RunLog> log_ = std::make_shared<RunLog>();
  std::unique_ptr<FinalizeGuard> guard_;
  bool finalizing_ = false;
  bool gaps_ = false;
  std::int64_t dropped_ = 0;  ///< agreed at close
  std::unique_ptr<MpiCommunicator> world_;
  std::string text_, file_;
  std::string folder_;  ///< working directory of rank 0 at open: the base of relative paths on all ranks
  std::shared_ptr<const Document> document_;
  OpeningConfig opening_;
  std::unique_ptr<EndingWatch> ending_;            ///< null: nothing can end the run
  std::unique_ptr<DirectoryLock> directory_lock_;  ///< on rank 0
  Roles roles_;
  Registry registry_;
  ModuleFiles modules_;  ///< found at open, loaded at the start if they are needed
  Declarations declarations_;
  enum class State { open, started, failed, ended } state_ = State::open;
  // Informs servers of another job if there will be no session, or no stream.
  std::unique_ptr<shared_memory::OpeningSocket> opening_socket_;  ///< until the start
  std::vector<std::unique_ptr<StreamOpening>> stream_openings_;

  std::shared_ptr<StreamContext> streams_ = std::make_shared<StreamContext>();
  Config config_;
  Metadata published_;  ///< the part of the configuration's metadata that clients know
  double origin_ = 0;
  std::string started_;  ///< the time of day then
  Transports transports_;
  std::unique_ptr<RunTables> tables_;  ///< only with `timings`
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Serving> serving_;  ///< on servers, on forwarders that reduce, and with `inline` on every rank
};

}  // namespace sidestream
