// Tables to which every iteration adds its rows.
//
// 1. append: writes rows in portions, then records the length up to which the file is complete in a hidden file. A
//    failure cuts the file back to its length before.
// 2. recover, after a kill: cuts the file to the recorded length. Without a record, to its complete lines; if it is
//    shorter than recorded, to the iteration before its last.
// 3. take_over, of a run that resumes: checks the columns, and drops the rows that the run will write again.
//    The file with all rows is kept under another name.
// Used on one server; nothing is collective.
#include "storage/results/table_files.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include "base/mpi/agree.hpp"
#include "config/reserved_file_names.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/formats/csv.hpp"

namespace sidestream {

namespace {

constexpr std::size_t rows_at_once = 4096;  ///< rows joined in memory

/// Columns of the table: the iteration's, then the table's own. Readers select by name, so each name occurs once.
std::vector<std::string> wide_columns(const Table& table, const std::string& file) {
  std::vector<std::string> columns{"iteration", "cycle", "time"};
  const std::size_t own = columns.size();
  for (const Column& column : table.columns()) {
    const auto same = std::find(columns.begin(), columns.end(), column.name);
    if (same != columns.end()) {
      fail(Code::analysis, "found the column '{}' {} for '{}', expected each name once{}; rename it or leave it out",
           column.name, same < columns.begin() + static_cast<std::ptrdiff_t>(own) ? "in a table" : "twice in a table",
           file,
           same < columns.begin() + static_cast<std::ptrdiff_t>(own)
               ? ": iteration, cycle and time are put before the columns of a table that all iterations share"
               : "");
    }
    columns.push_back(column.name);
  }
  return columns;
}

/// Rows [first, last), after the columns of the iteration.
Table with_iteration(const Table& table, std::size_t first, std::size_t last, const Iteration& iteration) {
  const std::size_t rows = last - first;
  std::vector<Column> columns{{"iteration", std::vector<std::int64_t>(rows, iteration.index)},
                              {"cycle", std::vector<std::int64_t>(rows, iteration.cycle)},
                              {"time", std::vector<double>(rows, iteration.time)}};
  for (const Column& column : table.columns()) {
    std::visit(
        [&](const auto& all) {
          const auto begin = all.begin();
          columns.push_back({column.name, std::decay_t<decltype(all)>(begin + static_cast<std::ptrdiff_t>(first),
                                                                      begin + static_cast<std::ptrdiff_t>(last))});
        },
        column.values);
  }
  return Table(std::move(columns));
}

std::int64_t number_in(const std::string& path, const CsvRecord& record, std::size_t line, std::size_t field,
                       const char* what) {
  std::int64_t number = 0;
  const std::string& text = record.fields.size() > field ? record.fields[field] : "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    fail(Code::file,
         "record {} of '{}', which this run should continue, has '{}' where the {} is expected; mend the file or move "
         "it away",
         line, path, text, what);
  }
  return number;
}

/// True if a row is kept.
bool keeps(const ResumeFilter& what, const std::string& path, const CsvRecord& record, std::size_t line) {
  const std::int64_t cycle = number_in(path, record, line, 1, "cycle");
  return what.keeps(number_in(path, record, line, 0, "iteration"), cycle);
}

namespace fs = std::filesystem;

std::string commitment_of(const std::string& path) { return hidden_beside(path, ".committed"); }

/// Records the length of the complete table. The digits lie within one page, so a kill cannot leave half of them.
void note_commitment(const std::string& path, std::uint64_t length) {
  overwrite_start(commitment_of(path), fmt::format("{:020}\n", length));
}

void note_commitment(const std::string& path) { note_commitment(path, size_of_file(path)); }

/// Removes the record before a shorter table replaces a complete one, since its length would not fit.
void forget_commitment(const std::string& path) {
  std::error_code error;
  fs::remove(commitment_of(path), error);
  if (error) fail_file("remove", commitment_of(path), error.value());
}

/// Length of the complete table. Nothing if it is not recorded, because the run ended normally or added no rows.
std::optional<std::uint64_t> commitment(const std::string& path) {
  const std::string note = commitment_of(path);
  if (!fs::exists(note)) return std::nullopt;
  const std::string digits = read_file(note);
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc{} || *end != '\n') return std::nullopt;
  return length;
}

/// Drops the rows of an incomplete iteration.
void recover(const std::string& path) {
  const std::optional<std::uint64_t> whole = commitment(path);
  const std::uint64_t size = size_of_file(path);
  if (whole && *whole <= size) {
    if (*whole < size) cut_file(path, *whole);
    return;
  }
  std::uint64_t records = 0, last = 0;  // bytes of all complete records, and of the records before the last iteration
  std::string iteration;
  for_each_record(path, [&](const CsvRecord& record) {
    if (record.fields.front() != iteration) last = records;
    iteration = record.fields.front();
    records += record.text.size();
  });
  // After a power failure the file may be shorter than recorded, and end within an iteration. Write the record first:
  // if this run is killed here, the next one would otherwise drop one more iteration.
  if (whole) note_commitment(path, last);
  cut_file(path, whole ? last : records);
}

}  // namespace

TableFiles::~TableFiles() {
  for (const auto& [path, columns] : columns_) {
    std::error_code ignored;
    retry_while_out_of_memory([&] { fs::remove(commitment_of(path), ignored); });
  }
}

void TableFiles::append(const ResultFormat& format, const std::string& file, const Iteration& iteration,
                        const Table& table, const Iteration& first) {
  const std::string path = directory_->path(file, iteration, 0);
  const std::vector<std::string> columns = wide_columns(table, file);
  auto known = columns_.find(path);
  if (known == columns_.end()) {
    if (!directory_->resumes() || !take_over(path, columns, ResumeFilter(*directory_, first))) {
      write_new(format, path, with_iteration(table, 0, 0, iteration));
    }
    note_commitment(path);
    known = columns_.emplace(path, columns).first;
  }
  if (known->second != columns) {
    fail(Code::configuration,
         "'{}' has the columns {}, and a table with the columns {} should be added to it; give the analyses "
         "different "
         "file names",
         path, fmt::join(known->second, ","), fmt::join(columns, ","));
  }
  const std::uint64_t before = size_of_file(path);
  try {
    for (std::size_t row = 0; row < table.rows(); row += rows_at_once) {
      const std::size_t last = std::min(row + rows_at_once, table.rows());
      format.table(path, with_iteration(table, row, last, iteration), true, directory_->provenance());
    }
    note_commitment(path);
  } catch (...) {
    cut_file(path, before);
    throw;
  }
}

std::vector<std::vector<std::string>> TableFiles::earlier_rows(const std::string& file, const Iteration& iteration,
                                                               const Iteration& first) const {
  std::vector<std::vector<std::string>> rows;
  const std::string path = directory_->path(file, iteration, 0);
  if (!directory_->resumes() || !fs::exists(path)) return rows;
  recover(path);
  const ResumeFilter what(*directory_, first);
  std::size_t line = 0;
  for_each_record(path, [&](const CsvRecord& record) {
    if (++line > 1 && keeps(what, path, record, line)) rows.push_back(record.fields);
  });
  return rows;
}

void TableFiles::write_new(const ResultFormat& format, const std::string& path, const Table& table) const {
  replace_file(*directory_, path,
               [&](const std::string& temporary) { format.table(temporary, table, false, directory_->provenance()); });
}

/// Truncates an earlier file to the rows that are kept. Returns false if there is none. A foreign format is only
/// truncated to whole iterations, since only its author could distinguish them.
bool TableFiles::take_over(const std::string& path, const std::vector<std::string>& columns,
                           const ResumeFilter& what) const {
  if (!fs::exists(path)) return false;
  if (fs::path(path).extension() != ".csv") {
    const std::optional<std::uint64_t> whole = commitment(path);
    if (whole && *whole < size_of_file(path)) cut_file(path, *whole);
    return true;
  }
  recover(path);
  std::size_t line = 0, dropped = 0;
  for_each_record(path, [&](const CsvRecord& record) {
    if (++line > 1) {
      dropped += !keeps(what, path, record, line);
    } else if (record.fields != columns) {
      fail(Code::file,
           "'{}', which this run should continue, has the columns {}, but now they are {}; choose another file "
           "name or move "
           "it away",
           path, fmt::join(record.fields, ","), fmt::join(columns, ","));
    }
  });
  if (line == 0) return false;
  if (dropped == 0) return true;
  const std::string kept_name = free_version(path);
  replace_file(*directory_, path, [&](const std::string& temporary) {
    OutputFile file(temporary);
    line = 0;
    for_each_record(path, [&](const CsvRecord& record) {
      if (++line == 1 || keeps(what, path, record, line)) file.write(record.text);
    });
    file.close();
    copy_file(path, directory_->temporary(kept_name));
    directory_->commit(kept_name);
    forget_commitment(path);
  });
  log::warning("'{}' goes on before cycle {}: {} rows from there on are kept in '{}' with the others", path,
               what.first().cycle, dropped, kept_name);
  return true;
}

void TableFiles::keep_provenance() {
  if (provenance_kept_ || directory_->provenance().empty()) return;
  const std::string path = directory_->path(own_files::provenance, {}, 0);
  std::string text = directory_->provenance() + "\n";
  if (directory_->resumes() && std::filesystem::exists(path)) {
    const std::string earlier = read_file(path);
    text = earlier.find(text) == std::string::npos ? earlier + "\n" + text : earlier;
  }
  // Groups of servers write the same text at different times, so each uses a separate temporary name.
  const std::string own = fmt::format("{}-{:x}", path, Clock::now().time_since_epoch().count() ^ ::getpid());
  write_file(directory_->temporary(own), text);
  try {
    rename_file(directory_->temporary(own), path);
  } catch (...) {
    directory_->discard(own);
    throw;
  }
  provenance_kept_ = true;
}

namespace {

template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

DataSet data_set_of(const std::string& file, const Table& mine, Index first, Index all) {
  DataSet data;
  for (const Column& column : mine.columns()) {
    DataSet::Array array{column.name, Type::float64, {"row"}, {all}, {first}, {static_cast<Index>(mine.rows())}};
    if (const auto* reals = std::get_if<std::vector<double>>(&column.values)) {
      array.values = bytes_of_values(*reals);
    } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&column.values)) {
      array.type = Type::int64;
      array.values = bytes_of_values(*numbers);
    } else {
      fail(Code::configuration,
           "the table for '{}' has texts in its column '{}', and '.h5' takes only numbers; write "
           "it to a file that ends in .csv",
           file, column.name);
    }
    data.arrays.push_back(std::move(array));
  }
  return data;
}

void add_as_data(Results& results, const std::string& file, const Table& mine, Communicator& servers, Pieces how) {
  const auto rows = static_cast<Index>(mine.rows());
  std::int64_t all = rows;
  servers.sum({&all, 1});
  const Index first = servers.exclusive_sum(rows);
  DataSet data;
  run_collectively(servers, [&] { data = data_set_of(file, mine, first, all); });
  results.add_parts(file, data, servers, how);
}

}  // namespace sidestream
