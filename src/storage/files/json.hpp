// JSON: reads files that may be damaged or forged, and writes objects on one line.
#pragma once

#include <concepts>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <ranges>
#include <string>
#include <string_view>

#include "storage/files/file_names.hpp"

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

/// The text of an object on one line, with `, ` and `: ` as separators. Members keep the order in which they are added.
/// The library's tree is not used here: see DeleteJson.
class JsonObject {
 public:
  /// Adds a string, a boolean, a number, an object, or a list of these. Real numbers have the shortest form that reads
  /// back to the same number; numbers that are not finite become null.
  template <class T>
  JsonObject& add(std::string_view name, const T& value) {
    if (!text_.empty()) text_ += ", ";
    text_ += quoted_text(name) + ": ";
    put(value);
    return *this;
  }
  [[nodiscard]] std::string text() const { return '{' + text_ + '}'; }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::convertible_to<const T&, std::string_view>) {
      text_ += quoted_text(value);
    } else if constexpr (std::same_as<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::floating_point<T>) {
      put_real(value);
    } else if constexpr (std::integral<T>) {
      text_ += std::to_string(value);
    } else if constexpr (std::same_as<T, JsonObject>) {
      text_ += value.text();
    } else {
      put_list(value);
    }
  }
  template <std::ranges::input_range List>
  void put_list(const List& list) {
    text_ += '[';
    const char* separator = "";
    for (const auto& item : list) {
      text_ += separator;
      put(item);
      separator = ", ";
    }
    text_ += ']';
  }
  void put_real(double value);

  std::string text_;
};

}  // namespace sidestream
