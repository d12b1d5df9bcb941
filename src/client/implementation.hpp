// The inside of a session: what opening, starting, publishing, serving and closing share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/communicator.hpp"
#include "client/declarations.hpp"
#include "client/publisher.hpp"
#include "client/record.hpp"
#include "client/roles.hpp"
#include "client/streams.hpp"
#include "client/wiring.hpp"
#include "config/config.hpp"
#include "server/combiner.hpp"
#include "server/engine.hpp"
#include "sidestream/sidestream.hpp"
#include "storage/output.hpp"

namespace sidestream {

/// States: open -> started -> closed. Any failure of a collective step leaves the session as it was; close always
/// works.
class Session::Implementation {
 public:
  /// Collective; opening.cpp. `text` wins over `file`; the environment variable over both.
  Implementation(MPI_Comm comm, const std::string& file, const std::optional<std::string>& text);
  ~Implementation();

  [[nodiscard]] bool is_server() const noexcept { return roles_.server || roles_.forwarder; }
  [[nodiscard]] bool is_off() const noexcept { return opening_.placement.mode == PlacementMode::off; }
  [[nodiscard]] MPI_Comm comm() const noexcept { return is_server() ? MPI_COMM_NULL : roles_.members->comm(); }
  [[nodiscard]] Registry& registry() noexcept { return registry_; }
  /// Declarations, until start. Throws Error(usage) afterwards, and on a server.
  [[nodiscard]] Declarations& declarations(const char* call);

  void set_block(const std::string& mesh, std::int64_t block, const Box& cells);
  void remove_block(const std::string& mesh, std::int64_t block);
  void set_allocated(const std::string& variable, std::int64_t block, const Box& box);

  /// Collective over the session's communicator: clients call start, servers serve; starting.cpp.
  void start();
  void serve();
  /// Starts if that has not happened; throws Error(usage) on a server. Then the publisher.
  [[nodiscard]] Publisher& publisher(const char* call);
  Taken end_iteration(std::int64_t cycle, double time);
  /// Collective.
  Account close();
  [[nodiscard]] Account account() const { return publisher_ ? publisher_->account() : Account{}; }

 private:
  // opening.cpp
  void read_configuration(const std::string& file, const std::optional<std::string>& text);
  void check_directory();
  // starting.cpp
  enum class Wish : std::int64_t { cancel = 0, start = 1 };
  [[nodiscard]] bool vote(Wish wish);
  void begin_together();
  void agree_on_declarations();
  void configure();
  void make_publisher();
  void check_blocks();
  void make_tasks();
  void make_engine();
  // implementation.cpp
  [[nodiscard]] RunFacts facts() const;
  void write_run_table_of_all(const RunTable& table, const std::string& rows);
  [[nodiscard]] std::string timing_rows() const;
  [[nodiscard]] std::string moved_rows() const;
  [[nodiscard]] Account agree_on_account();
  [[nodiscard]] const Ledger* ledger() const noexcept;
  [[nodiscard]] int recording_rank() const noexcept;
  void write_timings();
  void free_everything();

  std::unique_ptr<MpiCommunicator> world_;
  std::string text_, file_;
  std::shared_ptr<const Document> document_;
  OpeningConfig opening_;
  Roles roles_;
  Registry registry_;
  Declarations declarations_;
  enum class State { open, started, ended } state_ = State::open;

  std::shared_ptr<staging::StreamContext> streams_ = std::make_shared<staging::StreamContext>();
  Config config_;
  double origin_ = 0;
  Wires wires_;
  std::unique_ptr<Publisher> publisher_;
  std::shared_ptr<const OutputDirectory> directory_;
  std::unique_ptr<ResultStore> results_;
  std::unique_ptr<MpiCommunicator> servers_;
  std::vector<Task> tasks_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Combiner> combiner_;
};

}  // namespace sidestream
