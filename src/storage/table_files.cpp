#include "storage/table_files.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "base/fail.hpp"
#include "storage/formats/csv.hpp"
#include "storage/output_file.hpp"
#include "storage/replace_file.hpp"

namespace sidestream {

namespace {

Table with_iteration(const Table& table, const Iteration& iteration) {
  Table out;
  out.columns = {"iteration", "cycle", "time"};
  out.columns.insert(out.columns.end(), table.columns.begin(), table.columns.end());
  for (const auto& row : table.rows) {
    auto& wide = out.rows.emplace_back();
    wide.reserve(row.size() + 3);
    wide.insert(wide.end(), {iteration.index, iteration.cycle, iteration.time});
    wide.insert(wide.end(), row.begin(), row.end());
  }
  return out;
}

std::int64_t cycle_of(const std::string& path, const CsvRecord& record, std::size_t line) {
  std::int64_t cycle = 0;
  const std::string& text = record.fields.size() > 1 ? record.fields[1] : "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cycle);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    fail(Code::file,
         "record {} of '{}', which this run should continue, has '{}' where the cycle is expected; mend the "
         "file or move "
         "it away",
         line, path, text);
  }
  return cycle;
}

}  // namespace

void TableFiles::append(const ResultFormat& format, const std::string& file, const Iteration& iteration,
                        const Table& table, std::int64_t first_cycle) {
  const std::string path = directory_->path(file, iteration, 0);
  const Table wide = with_iteration(table, iteration);
  auto known = columns_.find(path);
  if (known == columns_.end()) {
    if (!resume_ || !take_over(path, wide.columns, first_cycle)) write_new(format, path, {wide.columns, {}});
    known = columns_.emplace(path, wide.columns).first;
  }
  if (known->second != wide.columns) {
    fail(Code::configuration,
         "'{}' has the columns {}, and a table with the columns {} should be added to it; give the analyses "
         "different "
         "file names",
         path, fmt::join(known->second, ","), fmt::join(wide.columns, ","));
  }
  format.table(path, wide, true, directory_->provenance());
}

void TableFiles::write_new(const ResultFormat& format, const std::string& path, const Table& table) const {
  replace_file(*directory_, path,
               [&](const std::string& temporary) { format.table(temporary, table, false, directory_->provenance()); });
}

/// Cuts a file of an earlier run back to the rows before `first_cycle`. False if there is none. A format that
/// is not ours is taken as it is: only its author could cut it.
bool TableFiles::take_over(const std::string& path, const std::vector<std::string>& columns,
                           std::int64_t first_cycle) const {
  if (!std::filesystem::exists(path)) return false;
  if (std::filesystem::path(path).extension() != ".csv") return true;
  const std::string text = read_file(path);
  const auto records = parse_csv(text);
  if (records.empty()) return false;
  if (records.front().fields != columns) {
    fail(Code::file,
         "'{}', which this run should continue, has the columns {}, but now they are {}; choose another file "
         "name or move "
         "it away",
         path, fmt::join(records.front().fields, ","), fmt::join(columns, ","));
  }
  std::string kept(records.front().text);
  for (std::size_t n = 1; n < records.size(); ++n) {
    if (cycle_of(path, records[n], n + 1) < first_cycle) kept += records[n].text;
  }
  replace_file(*directory_, path, kept);
  return true;
}

void TableFiles::keep_provenance() {
  if (provenance_kept_ || directory_->provenance().empty()) return;
  const std::string path = directory_->path("provenance.txt", {}, 0);
  std::string text = directory_->provenance() + "\n";
  if (resume_ && std::filesystem::exists(path)) {
    const std::string earlier = read_file(path);
    text = earlier.find(text) == std::string::npos ? earlier + "\n" + text : earlier;
  }
  replace_file(*directory_, path, text);
  provenance_kept_ = true;
}

}  // namespace sidestream
