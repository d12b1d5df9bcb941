#include "storage/formats/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace {

void put_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

template <class T>
void put_number(std::string& out, T value) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void put(std::string& out, std::int64_t whole) { put_number(out, whole); }
void put(std::string& out, const std::string& text) { put_text(out, text); }
void put(std::string& out, double real) {
  // The sign of a NaN depends on the machine and means nothing.
  if (std::isnan(real)) {
    out += "nan";
  } else {
    put_number(out, real);
  }
}

void put_names(std::string& out, const Table& table) {
  const char* separator = "";
  for (const Column& column : table.columns()) {
    out += separator;
    put_text(out, column.name);
    separator = ",";
  }
  out += '\n';
}

/// Form of real numbers.
enum class Reals { shortest, with_point };

/// Inserts the decimal point into a real number that begins at `start`: 3 becomes 3.0, and 1e-05 becomes 1.0e-05.
void put_point(std::string& out, std::size_t start) {
  if (out.find_first_of(".nN", start) != std::string::npos) return;
  out.insert(std::min(out.find('e', start), out.size()), ".0");
}

void put_row(std::string& out, const Table& table, std::size_t row, Reals reals) {
  const char* separator = "";
  for (const Column& column : table.columns()) {
    out += separator;
    const std::size_t start = out.size();
    std::visit([&](const auto& values) { put(out, values[row]); }, column.values);
    if (reals == Reals::with_point && std::holds_alternative<std::vector<double>>(column.values)) put_point(out, start);
    separator = ",";
  }
  out += '\n';
}

void write_table(const std::string& path, const Table& table, bool append, Reals reals) {
  std::string text;
  std::optional<OutputFile> file;
  if (!append) {
    file.emplace(path);
    put_names(text, table);
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    put_row(text, table, row, reals);
    if (!file) continue;
    file->write(text);
    text.clear();
  }
  if (!file) return append_to_file(path, text);
  file->write(text);
  file->close();
}

void write_csv_list(const std::string& path, const Table& like, const std::vector<PieceFile>& pieces) {
  std::uint64_t rows = 0;
  for (const PieceFile& piece : pieces) rows += piece.count;
  OutputFile file(path);
  file.write(fmt::format("{{\"format\": \"sidestream-table\", \"version\": 1, \"rows\": {},\n\"columns\": [", rows));
  const char* separator = "";
  for (const std::string& name : like.names()) {
    file.write(separator + quoted_text(name));
    separator = ", ";
  }
  file.write("],\n\"pieces\": [");
  separator = "\n";
  for (const PieceFile& piece : pieces) {
    file.write(fmt::format("{}  {{\"file\": {}, \"rows\": {}}}", separator, quoted_text(piece.file), piece.count));
    separator = ",\n";
  }
  file.write("\n]}\n");
  file.close();
}

/// Reads the field at the start of `rest` into `field` and returns the text behind it; nothing if the text ends first.
std::optional<std::string_view> take_field(std::string_view rest, std::string& field) {
  if (rest.empty() || rest.front() != '"') {
    const std::size_t end = rest.find_first_of(",\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    field = rest.substr(0, end);
    return rest.substr(end);
  }
  for (std::size_t n = 1; n < rest.size(); ++n) {
    if (rest[n] != '"') {
      field += rest[n];
    } else if (n + 1 < rest.size() && rest[n + 1] == '"') {
      field += rest[++n];
    } else {
      return rest.substr(n + 1);
    }
  }
  return std::nullopt;
}

/// Reads one record with its line end; nothing if the text ends first.
std::optional<CsvRecord> take_record(std::string_view text) {
  CsvRecord record;
  std::string_view rest = text;
  while (true) {
    const auto after = take_field(rest, record.fields.emplace_back());
    if (!after || after->empty()) return std::nullopt;
    rest = *after;
    if (rest.front() == ',') {
      rest.remove_prefix(1);
      continue;
    }
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    record.text = text.substr(0, text.size() - rest.size() + end + 1);
    return record;
  }
}

}  // namespace

std::vector<CsvRecord> parse_csv(std::string_view text) {
  std::vector<CsvRecord> records;
  while (auto record = take_record(text)) {
    text.remove_prefix(record->text.size());
    records.push_back(std::move(*record));
  }
  return records;
}

void for_each_record(const std::string& path, const std::function<void(const CsvRecord&)>& f) {
  constexpr std::size_t chunk = 1u << 20;
  InputFile file(path);
  std::string buffer;
  for (bool more = true; more;) {
    const std::size_t kept = buffer.size();
    buffer.resize(kept + std::max(chunk, kept));  // doubled if a record is longer than the buffer
    buffer.resize(kept + file.read(buffer.data() + kept, buffer.size() - kept));
    more = buffer.size() > kept;
    std::string_view rest = buffer;
    while (const auto record = take_record(rest)) {
      f(*record);
      rest.remove_prefix(record->text.size());
    }
    buffer.erase(0, buffer.size() - rest.size());
  }
}

std::string csv_field(std::string_view text) {
  std::string out;
  put_text(out, text);
  return out;
}

ResultFormat csv_format() {
  ResultFormat format;
  format.ending = ".csv";
  format.text = "Comma-separated values with a header line, for tables.";
  format.table = [](const std::string& path, const Table& table, bool append, const std::string&) {
    write_table(path, table, append, Reals::shortest);
  };
  format.list_ending = ".pieces";
  format.table_list = write_csv_list;
  return format;
}

ResultFormat cinema_format() {
  ResultFormat format;
  format.ending = ".csv";
  format.table = [](const std::string& path, const Table& table, bool append, const std::string&) {
    write_table(path, table, append, Reals::with_point);
  };
  return format;
}

}  // namespace sidestream
