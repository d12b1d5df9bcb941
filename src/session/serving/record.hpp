// The record of a run in its output directory: what ran, with which configuration, how it went, how long it took.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "client/publisher.hpp"
#include "config/config.hpp"
#include "config/reserved_file_names.hpp"
#include "server/engine/ledger.hpp"

namespace sidestream {

/// What goes into run.yaml.
struct RunFacts {
  std::string file, text;  ///< of the configuration
  std::string placement;
  int clients = 0, servers = 0, nodes = 1;
  std::vector<ServerGroup> groups{};
};

/// Names of the files that record a run.
struct RecordNames {
  const char* record = own_files::run_record;
  const char* timings = own_files::run_timings;
  const char* lock = own_files::run_lock;  ///< held by who writes into the directory
};

/// Throws Error(file) if the output directory holds an earlier run and `existing` is refuse.
void refuse_earlier_run(const OpeningConfig& opening, const RecordNames& names = {});

/// Where this run replaces an earlier one: removes what that one left under `names`, which this run may not write.
void remove_earlier_records(const OpeningConfig& opening, std::initializer_list<const char*> names);

/// Of a run that goes on in the directory of an earlier one: that one's record stays too, as `run-v1.yaml` and so on.
void keep_earlier_record(const OpeningConfig& opening, const RecordNames& names = {});

/// Writes `run.yaml`; with a ledger and an account also how it ended. One rank.
void write_record(const std::string& directory, const RunFacts& facts, const Account* account, const Ledger* ledger,
                  const RecordNames& names = {});

/// How a group of servers ended, for people: `10 iterations delivered, 1 failed, 0 refused; results are in out`.
[[nodiscard]] std::string closing_text(const Account& account, const std::string& directory);

/// This rank's rows of timings.csv, without the header.
[[nodiscard]] std::string client_rows(int rank, const std::vector<IterationTiming>& timings);
[[nodiscard]] std::string server_rows(int rank, const Ledger& ledger);
/// This rank's rows of movement.csv, without the header.
[[nodiscard]] std::string movement_rows(int rank, const char* role, const std::vector<MovedBytes>& moved);
/// A table of a run that every rank has rows of.
struct RunTable {
  const char* file;
  const char* header;
};
inline constexpr RunTable timings_table{own_files::run_timings,
                                        "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"};
/// What moved: servers count what came (blocks are pieces of one variable; layers were fetched for halos), clients and
/// forwarders what left, layers included.
inline constexpr RunTable movement_table{own_files::run_movement, "rank,role,iteration,blocks,bytes,layer_bytes\n"};
/// What became of each iteration; README of the columns: docs/formats.md.
inline constexpr RunTable iterations_table{own_files::run_iterations, "iteration,cycle,time,outcome,reason\n"};
[[nodiscard]] std::string iteration_rows(const std::vector<IterationRow>& iterations);
/// What an account lost, for people: "3 were refused, 2 have an outcome that is not known"; empty if nothing.
/// `skipped`: times an analysis or a writer was due without its variables.
[[nodiscard]] std::string losses_of(const Account& account, std::int64_t skipped);
/// One line on the log, if anything was lost: once, at the end, whatever was said when it happened. `table`: the file
/// that says which and why, if there is one. One rank.
void warn_of_losses(const Account& account, std::int64_t skipped, const std::string& table);
/// What servers alone can say of a session's account.
[[nodiscard]] Account account_of(const Ledger& ledger);
/// Who writes a table of a run that every rank has rows of.
struct TableWriters {
  int mine = 0;   ///< the rank that writes this rank's rows
  int first = 0;  ///< the one that makes the file, the same everywhere
};
/// Collective: `write`, on every rank, writes a record, or a part of it, without communicating. False if that failed
/// anywhere with Error(file), on a full disk, say; the lowest rank on which it did says so on the log. It costs neither
/// the account nor other records.
bool leave_record(Communicator& all, const std::function<void()>& write);

}  // namespace sidestream
