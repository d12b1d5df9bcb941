// Tables as comma-separated values.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.csv` after RFC 4180 with a header line, lines ending in a bare line feed, numbers in the shortest
/// decimal form that reads back to the same double (`nan`, `inf`, `-inf` otherwise). Rows are added in one
/// write.
[[nodiscard]] ResultFormat csv_format();

/// A text as a field of such a file, quoted where it must be.
[[nodiscard]] std::string csv_field(std::string_view text);

/// One record of a CSV text.
struct CsvRecord {
  std::vector<std::string> fields;
  std::string_view text;  ///< as it stands, with its line end
};

/// The complete records of `text`, which must outlive them; a last line without its end, as a crash leaves
/// it, is not among them. Accepts LF and CRLF.
[[nodiscard]] std::vector<CsvRecord> parse_csv(std::string_view text);

/// Calls f(record) for the complete records of a file, one after the other, with memory for a few of them only. Throws
/// Error(file).
void for_each_record(const std::string& path, const std::function<void(const CsvRecord&)>& f);

}  // namespace sidestream
