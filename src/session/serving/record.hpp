// The record of a run in its output directory: processes, configuration, outcome and times.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "base/run_log.hpp"
#include "client/publisher.hpp"
#include "config/config.hpp"
#include "config/reserved_file_names.hpp"
#include "server/engine/ledger.hpp"

namespace sidestream {

/// The content of run.yaml.
struct RunFacts {
  std::string file, text;  ///< path and text of the configuration
  std::string placement;
  int clients = 0, servers = 0, nodes = 1;
  std::vector<ServerGroup> groups{};
  std::string started{};  ///< time of day of the start, where tables begin to count seconds; empty: not started
};

/// Names of the files that record a run.
struct RecordNames {
  const char* record = own_files::run_record;
  const char* timings = own_files::run_timings;
  const char* lock = own_files::run_lock;  ///< held by the process that writes into the directory
};

/// Throws Error(file) if the output directory holds an earlier run and `existing` is refuse.
void refuse_earlier_run(const OpeningConfig& opening, const RecordNames& names = {});

/// Removes the records of a replaced earlier run under `names`, which this run may not write itself.
void remove_earlier_records(const OpeningConfig& opening, std::initializer_list<const char*> names);

/// Keeps the record of an earlier run whose directory this one continues, as `run-v1.yaml` and so on.
void keep_earlier_record(const OpeningConfig& opening, const RecordNames& names = {});

/// Writes `run.yaml`; with a ledger and an account also the outcome. Called on one rank.
void write_record(const std::string& directory, const RunFacts& facts, const Account* account, const Ledger* ledger,
                  const RecordNames& names = {});

/// Opens the file of messages `name`, after `remove_earlier_records`. The log's earlier messages go into it. `role`:
/// client, server or forwarder. Neither collective nor able to fail.
void begin_messages(RunLog& log, const OpeningConfig& opening, const char* name, const char* role, int rank);

/// Describes the outcome for a group of servers: `10 iterations delivered, 1 failed, 0 refused; results are in out`.
[[nodiscard]] std::string closing_text(const Account& account, const std::string& directory);

/// This rank's rows of timings.csv, without the header.
[[nodiscard]] std::string client_rows(int rank, const std::vector<IterationTiming>& timings);
[[nodiscard]] std::string server_rows(int rank, const Ledger& ledger);
/// This rank's rows of movement.csv, without the header.
[[nodiscard]] std::string movement_rows(int rank, const char* role, const std::vector<MovedBytes>& moved);
/// A table of a run. Every rank adds rows.
struct RunTable {
  const char* file;
  const char* header;
};
inline constexpr RunTable timings_table{own_files::run_timings,
                                        "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"};
/// Moved bytes. Servers count received blocks (pieces of one variable) and layers (fetched for halos). Clients and
/// forwarders count sent bytes, layers included.
inline constexpr RunTable movement_table{own_files::run_movement, "rank,role,iteration,blocks,bytes,layer_bytes\n"};
/// The outcome of each iteration; docs/formats.md describes the columns.
inline constexpr RunTable iterations_table{own_files::run_iterations, "iteration,cycle,time,outcome,reason\n"};
[[nodiscard]] std::string iteration_rows(const std::vector<IterationRow>& iterations);
/// Describes the losses of an account: "3 were refused, 2 have an outcome that is not known"; empty if there are none.
/// `skipped`: number of times that a due analysis or writer lacked its variables.
[[nodiscard]] std::string losses_of(const Account& account, std::int64_t skipped);
/// Logs losses in one line at the end, even if they were logged when they happened. `table`: the file with iterations
/// and reasons, if any. Called on one rank.
void warn_of_losses(const Account& account, std::int64_t skipped, const std::string& table);
/// The part of a session's account that only servers know.
[[nodiscard]] Account account_of(const Ledger& ledger);
/// The ranks that write a table of a run.
struct TableWriters {
  int mine = 0;   ///< the rank that writes this rank's rows
  int first = 0;  ///< the rank that creates the file, the same everywhere
};
/// Calls `write` on every rank, which writes a record or a part of it without communication. Collective. Returns false
/// if that failed anywhere with Error(file), for example on a full disk; the lowest failing rank logs it. Neither the
/// account nor other records are affected.
bool attempt_record(Communicator& all, CallRef write);

}  // namespace sidestream
