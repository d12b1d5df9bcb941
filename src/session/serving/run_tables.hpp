// Rows of the run's tables during the run, on one process, in bounded memory.
#pragma once

#include <initializer_list>
#include <string>

#include "client/publisher.hpp"
#include "config/config.hpp"
#include "server/engine/ledger.hpp"
#include "session/opening/roles.hpp"
#include "session/serving/record.hpp"
#include "storage/files/row_spool.hpp"

namespace sidestream {

/// Path of the file with rows until all processes write them to the tables together: `.timings.csv.rows` and so on.
[[nodiscard]] std::string part_path(const std::string& directory, const RunTable& table);

/// Handles part files of an earlier run that ended early. If this run continues it, their rows are added to the tables,
/// otherwise the files are removed. Call it on one rank before any process has rows.
void settle_part_files(const OpeningConfig& opening, std::initializer_list<RunTable> tables);

/// Rows of one process.
class RunTables {
 public:
  struct Kinds {
    RunTable timings = timings_table, movement = movement_table, iterations = iterations_table;
    bool moves = false;  ///< true if there is a table of moved bytes
  };
  /// `rank`: this process among the `ranks` that share the part files.
  RunTables(const std::string& directory, int rank, int ranks, const Kinds& kinds);

  /// Takes all current rows of a ledger or a publisher, which drop them.
  void take(const Ledger& ledger);
  void take(const Publisher& publisher);
  /// Writes all rows of servers to the part files.
  void show();
  /// Adds a row of a forwarder.
  void take_sent(std::int64_t iteration, std::uint64_t bytes);

  RowSpool timings, movement, iterations;

 private:
  int rank_;
  bool moves_;
};

/// Tables of a simulation with `sidecar`, and of an endpoint. The tables of their servers have the usual names.
inline constexpr RunTables::Kinds client_tables{{own_files::clients_timings, timings_table.header},
                                                movement_table,
                                                {own_files::clients_iterations, iterations_table.header}};
inline constexpr RunTables::Kinds endpoint_tables{{own_files::endpoint_timings, timings_table.header},
                                                  {own_files::endpoint_movement, movement_table.header},
                                                  {own_files::endpoint_iterations, iterations_table.header},
                                                  true};

/// Directs a ledger's rows to `tables`, which must outlive the ledger. `records`: true on the one server that writes
/// the outcomes of iterations; with groups it joins its rows with those of the first server of each other group.
/// `live`: people watch, so rows are in the part files within a second after their iteration.
[[nodiscard]] LedgerRows rows_to(RunTables& tables, const Roles& roles, bool records, bool live);

/// Writes one file with the header and all rows; with `append`, the rows of an existing file come first. Collective.
/// Returns false like `attempt_record`. The writers share the work: each writes its own rows from the part file, and
/// the rows that others send from memory, so that no rank holds more. Removes the part file.
bool write_run_table_together(Communicator& all, const TableWriters& writers, const std::string& directory,
                              const RunTable& table, RowSpool& rows, bool append);

}  // namespace sidestream
