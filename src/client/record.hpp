// The record of a run in its output directory: what ran, with which configuration, how it went, how long it took.
#pragma once

#include <string>
#include <vector>

#include "client/publisher.hpp"
#include "config/config.hpp"
#include "server/ledger.hpp"

namespace sidestream {

/// What goes into run.yaml.
struct RunFacts {
  std::string file, text;  ///< of the configuration
  std::string placement;
  int clients = 0, servers = 0, nodes = 1;
};

/// Throws Error(file) if the output directory holds an earlier run and `existing` is refuse.
void refuse_earlier_run(const OpeningConfig& opening);

/// The file that says that a directory holds a run.
inline constexpr const char* run_record = "run.yaml";

/// Writes `name`; with a ledger and an account also how the run ended. One rank.
void write_record(const std::string& directory, const RunFacts& facts, const Account* account, const Ledger* ledger,
                  const char* name = run_record);

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
inline constexpr RunTable timings_table{"timings.csv",
                                        "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"};
/// What moved: servers count what came (blocks are pieces of one variable; layers were fetched for halos), clients and
/// forwarders what left, layers included.
inline constexpr RunTable movement_table{"movement.csv", "rank,role,iteration,blocks,bytes,layer_bytes\n"};
/// Writes the header, then `rows`; with `append` and an existing file, the rows alone. One rank.
void write_run_table(const std::string& directory, const RunTable& table, const std::vector<std::string>& rows,
                     bool append);

}  // namespace sidestream
