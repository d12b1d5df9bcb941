// JSON: files that may be damaged or made up are read, and values are written on one line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sidestream {

/// Reads a JSON text. The memory that this takes is proportional to the text. Throws Error(file), with the place, if
/// the text is not JSON, or if it nests lists and objects more than 16 deep.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);

/// Writes a value on one line, with `, ` and `: ` as separators. Members keep their order. Real numbers have the
/// shortest form that reads back to the same number; one that is not finite is null.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& value);

}  // namespace sidestream
