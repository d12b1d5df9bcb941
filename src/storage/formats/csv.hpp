// Tables as comma-separated values.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.csv` after RFC 4180 with a header line. Lines end in a bare line feed. Numbers have the shortest decimal form that
/// reads back to the same double (`nan`, `inf`, `-inf` otherwise). Rows are added in one write.
[[nodiscard]] ResultFormat csv_format();

/// CSV for tables of Cinema databases. Their readers take a column without decimal points for integers, so real numbers
/// have a point.
[[nodiscard]] ResultFormat cinema_format();

/// Formats a text as a CSV field, quoted where needed.
[[nodiscard]] std::string csv_field(std::string_view text);

/// One record of a CSV text.
struct CsvRecord {
  std::vector<std::string> fields;
  std::string_view text;  ///< verbatim, with its line end
};

/// The complete records of `text`, which must outlive them. An incomplete last line, as after a crash, is dropped.
/// Accepts LF and CRLF.
[[nodiscard]] std::vector<CsvRecord> parse_csv(std::string_view text);

/// Calls f(record) for the complete records of a file in sequence, with only a few of them in memory. Throws
/// Error(file).
void for_each_record(const std::string& path, const std::function<void(const CsvRecord&)>& f);

}  // namespace sidestream
