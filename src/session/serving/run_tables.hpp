// The tables of a run while it runs: what one process has rows of, in bounded memory.
#pragma once

#include <array>
#include <initializer_list>
#include <string>

#include "client/publisher.hpp"
#include "config/config.hpp"
#include "server/engine/ledger.hpp"
#include "session/opening/roles.hpp"
#include "session/serving/record.hpp"
#include "storage/files/row_spool.hpp"

namespace sidestream {

/// Where the rows are until all processes write them to the tables together: in `.timings.csv.rows` and so on.
[[nodiscard]] std::string part_path(const std::string& directory, const RunTable& table);

/// Before any process has rows. Part files are there if an earlier run ended early: where this one goes on with it,
/// their rows come into the tables; else they are removed. One rank.
void settle_part_files(const OpeningConfig& opening, std::initializer_list<RunTable> tables);

/// Rows of one process.
class RunTables {
 public:
  struct Kinds {
    RunTable timings = timings_table, movement = movement_table, iterations = iterations_table;
    bool moves = false;  ///< there is a table of what moved
  };
  /// `rank` of `ranks` that share the part files.
  RunTables(const std::string& directory, int rank, int ranks, const Kinds& kinds);

  /// All that a ledger, or a publisher, has at the moment. They drop it.
  void take(const Ledger& ledger);
  void take(const Publisher& publisher);
  /// Of a forwarder.
  void take_sent(std::int64_t iteration, std::uint64_t bytes);

  RowSpool timings, movement, iterations;

 private:
  int rank_;
  bool moves_;
};

/// Of a simulation with `sidecar`, and of an endpoint, whose servers' tables have the usual names.
inline constexpr RunTables::Kinds client_tables{{own_files::clients_timings, timings_table.header},
                                                movement_table,
                                                {own_files::clients_iterations, iterations_table.header}};
inline constexpr RunTables::Kinds endpoint_tables{{own_files::endpoint_timings, timings_table.header},
                                                  {own_files::endpoint_movement, movement_table.header},
                                                  {own_files::endpoint_iterations, iterations_table.header},
                                                  true};

/// What becomes of a server's rows. `records`: of all servers the one that leaves what became of iterations; with
/// groups it joins its rows with those of the first of each other one. `tables` outlives the ledger.
[[nodiscard]] LedgerRows rows_to(RunTables& tables, const Roles& roles, bool records);

/// Collective: one file with the header and everybody's rows, or false as `leave_record`; with `append` and an existing
/// file, its rows come first. Those who write it do so together: each the rows that it has put into the part file, and
/// those that came to it from the memory of others. No rank holds more. The part file is removed.
bool write_run_table_together(Communicator& all, const TableWriters& writers, const std::string& directory,
                              const RunTable& table, RowSpool& rows, bool append);

}  // namespace sidestream
