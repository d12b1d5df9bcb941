// Writes JSON objects on one line.
#pragma once

#include <concepts>
#include <ranges>
#include <string>
#include <string_view>

#include "sidestream/kit/storage/files/file_names.hpp"

namespace sidestream {

/// The text of an object on one line, with `, ` and `: ` as separators. Members keep the order in which they are added.
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
