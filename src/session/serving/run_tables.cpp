// Tables of a run: timings, movement and iterations. Each process collects rows and spills them to its region of a
// hidden file.
//
// 1. take: turns finished rows of a ledger or publisher into text. It retries while memory is short.
// 2. write_run_table_together (collective): one process creates the table; a prefix sum of lengths gives each writer
//    its offset; all write; the first renames. Rows in memory go first to the writers that record for their processes.
// 3. settle_part_files: rows of a run that was killed are appended when it is resumed, otherwise removed.
// A failure to write is logged by one rank, and leaves no table; lost rows are counted and reported.
#include "session/serving/run_tables.hpp"

#include <filesystem>
#include <span>

#include "base/own_environment.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace fs = std::filesystem;

std::string part_path(const std::string& directory, const RunTable& table) {
  return (fs::path(directory) / (std::string(".") + table.file + ".rows")).string();
}

RunTables::RunTables(const std::string& directory, int rank, int ranks, const Kinds& kinds)
    : timings(part_path(directory, kinds.timings), rank, ranks),
      movement(part_path(directory, kinds.movement), rank, ranks),
      iterations(part_path(directory, kinds.iterations), rank, ranks),
      rank_(rank),
      moves_(kinds.moves) {}

void RunTables::take(const Ledger& ledger) {
  const OwnEnvironment environment;
  retry_while_out_of_memory([&] { timings.add(server_rows(rank_, ledger)); });
  if (moves_) retry_while_out_of_memory([&] { movement.add(movement_rows(rank_, "server", ledger.moved())); });
  if (!ledger.gathers()) retry_while_out_of_memory([&] { iterations.add(iteration_rows(ledger.iterations())); });
}

void RunTables::take(const Publisher& publisher) {
  const OwnEnvironment environment;
  retry_while_out_of_memory([&] { timings.add(client_rows(rank_, publisher.timings())); });
  if (moves_) retry_while_out_of_memory([&] { movement.add(movement_rows(rank_, "client", publisher.moved())); });
  retry_while_out_of_memory([&] { iterations.add(iteration_rows(publisher.iterations())); });
}

void RunTables::take_sent(std::int64_t iteration, std::uint64_t bytes) {
  if (moves_)
    retry_while_out_of_memory([&] { movement.add(movement_rows(rank_, "forwarder", {{iteration, 0, bytes, 0}})); });
}

void RunTables::show() {
  const OwnEnvironment environment;
  for (RowSpool* rows : {&timings, &movement, &iterations}) rows->show();
}

LedgerRows rows_to(RunTables& tables, const Roles& roles, bool records, bool live) {
  using Iterations = LedgerRows::Iterations;
  LedgerRows rows{[&tables, live](const Ledger& ledger) {
                    tables.take(ledger);
                    if (live) tables.show();
                  },
                  Iterations::none, live ? 1.0 : 0.0};
  if (records) rows.iterations = roles.group_members ? Iterations::gathered : Iterations::taken;
  if (roles.group_members && roles.group_members->rank() == 0) rows.iterations = Iterations::gathered;
  return rows;
}

namespace {

fs::path temporary_of(const std::string& directory, const RunTable& table) {
  return fs::path(directory) / (std::string(".") + table.file + ".part");
}

/// Creates the file for the rows of all processes. Returns the offset where rows begin.
std::int64_t begin_table(const fs::path& path, const fs::path& temporary, const RunTable& table, bool append) {
  std::error_code error;
  if (append && fs::exists(path, error)) {
    copy_file(path.string(), temporary.string());
    return static_cast<std::int64_t>(fs::file_size(temporary));
  }
  const std::string header = table.header;
  OutputFile file(temporary.string());
  file.write(header);
  file.close();
  return static_cast<std::int64_t>(header.size());
}

/// Removes the temporary file of a table that was not completed.
struct Unfinished {
  fs::path temporary;
  bool finished = false;
  ~Unfinished() {
    std::error_code ignored;
    if (!finished) fs::remove(temporary, ignored);
  }
};

/// Appends the rows of a run that ended early to the existing table.
void append_part_file(const std::string& directory, const RunTable& table) {
  const fs::path path = fs::path(directory) / table.file;
  Unfinished unfinished{temporary_of(directory, table)};
  const std::string temporary = unfinished.temporary.string();
  auto end = static_cast<std::uint64_t>(begin_table(path, temporary, table, true));
  read_part_file(part_path(directory, table), [&](std::string_view rows) {
    write_at(temporary, end, rows);
    end += rows.size();
  });
  rename_file(temporary, path.string());
  unfinished.finished = true;
}

}  // namespace

void settle_part_files(const OpeningConfig& opening, std::initializer_list<RunTable> tables) {
  for (const RunTable& table : tables) {
    const std::string part = part_path(opening.directory, table);
    std::error_code error;
    if (!fs::exists(fs::symlink_status(part, error))) continue;
    if (opening.existing == Existing::resume) append_part_file(opening.directory, table);
    fs::remove(part, error);
    if (error) fail_file("remove what an earlier run left in", part, error.value());
  }
}

namespace {

/// Writes this process' rows at `position` of the table.
void write_rows(const std::string& temporary, std::uint64_t position, const RowSpool& rows, const std::string& text) {
  rows.read_spilled([&](std::string_view some) {
    write_at(temporary, position, some);
    position += some.size();
  });
  if (!text.empty()) write_at(temporary, position, text);
}

/// Gathers the rows in memory of all processes whose rows `writers.mine` writes. Collective.
std::string buffered_rows(Communicator& all, const TableWriters& writers, const std::string& rows) {
  std::vector<MemberMessage> mine;
  const auto bytes = std::as_bytes(std::span(rows));
  if (!rows.empty()) mine.push_back({writers.mine, Bytes(bytes.begin(), bytes.end())});
  std::string text;
  for (const MemberMessage& part : all.exchange(std::move(mine))) {
    text.append(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size());
  }
  return text;
}

/// Logs, on one rank, that rows are missing because they could not be written during the run. Collective.
void warn_of_lost_rows(Communicator& all, const fs::path& path, const RowSpool& rows) {
  std::int64_t last = rows.lost() > 0 ? all.rank() : -1;
  all.maximum(std::span(&last, 1));
  if (last != all.rank()) return;
  log::warning("'{}' lacks {} rows of rank {}, and perhaps some of others: {}", path.string(), rows.lost(), last,
               rows.failure());
}

}  // namespace

bool write_run_table_together(Communicator& all, const TableWriters& writers, const std::string& directory,
                              const RunTable& table, RowSpool& rows, bool append) {
  const std::string text = buffered_rows(all, writers, rows.buffered());
  const bool first = all.rank() == writers.first;
  const fs::path path = fs::path(directory) / table.file;
  Unfinished unfinished{temporary_of(directory, table), !first};
  const std::string temporary = unfinished.temporary.string();
  std::int64_t begin = 0;
  const auto make = [&] {
    if (first) begin = begin_table(path, temporary, table, append);
  };
  if (!attempt_record(all, make)) return false;
  all.maximum(std::span(&begin, 1));
  begin += all.exclusive_sum(static_cast<std::int64_t>(rows.spilled() + text.size()));
  if (!attempt_record(all, [&] { write_rows(temporary, static_cast<std::uint64_t>(begin), rows, text); })) return false;
  rows.close();
  warn_of_lost_rows(all, path, rows);
  const auto name = [&] {
    if (!first) return;
    rename_file(temporary, path.string());
    std::error_code ignored;
    fs::remove(part_path(directory, table), ignored);
  };
  unfinished.finished = attempt_record(all, name);
  return unfinished.finished;
}

}  // namespace sidestream
