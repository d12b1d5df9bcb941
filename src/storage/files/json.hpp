// JSON: reads files that may be damaged or forged.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "sidestream/kit/storage/files/json_object.hpp"

namespace sidestream {

/// Deletes a value after emptying it. The library's destructor allocates memory for lists and objects with members, and
/// ends the program if there is none.
struct DeleteJson {
  void operator()(nlohmann::json* value) const noexcept;
};
using JsonDocument = std::unique_ptr<nlohmann::json, DeleteJson>;

/// Reads a JSON text, with memory proportional to its length. Throws Error(file), with the position, if the text is not
/// JSON, or if it nests lists and objects more than 16 deep.
[[nodiscard]] JsonDocument parse_json(std::string_view text);

}  // namespace sidestream
