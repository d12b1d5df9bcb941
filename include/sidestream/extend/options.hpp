// Declaration of options, and access to their values.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#if __cplusplus < 202002L
#error \
    "Plug-ins, and analyses that a program brings, are compiled as C++20 or later: target_compile_features(... cxx_std_20)"
#endif

#include "sidestream/data/metadata.hpp"
#include "sidestream/error.hpp"

namespace sidestream {

/// The kinds of values that an option may have in the YAML file.
enum class OptionType {
  boolean,   ///< true or false
  integer,   ///< a 64-bit whole number, or an expression of parameters such as `$nx` or `$nx - 1`
  real,      ///< a number, or such an expression
  text,      ///< any text
  choice,    ///< one of `choices`
  bytes,     ///< a number with an optional unit: 64 MiB, 2 GB, 1048576
  file,      ///< a file name pattern: {index}, {cycle}, {time}, {server}, each with an optional width as in {cycle:06}
  variable,  ///< the name of a declared variable
  mesh,      ///< the name of a declared mesh
  map,       ///< nested options (`options`); with the default `{}` they have their defaults if the map is not given
  pairs,     ///< a map from any names to texts or numbers, kept as texts: `{QueueLimit: 2}`
  one_of,    ///< a map with exactly one key, one of `options` (each of type map): `{isosurface: {...}}`
  schedule,  ///< see `every`: 5 | "10 cycles" | "0.5 time" | "30 s" | auto
  event,     ///< the name of an event of the program; naming it here makes it known to the session
};

/// Declares one option. The same declaration feeds the parser, the checker and the reference manual.
struct Option {
  std::string name;
  OptionType type = OptionType::text;
  bool list = false;            ///< a YAML list of such values; a single value counts as a list of one
  std::string default_value{};  ///< as it would be written in the file; empty: none
  bool required = false;
  std::string text{};                          ///< one or two sentences for the manual
  std::vector<std::string> choices{};          ///< for `choice`
  std::optional<double> minimum{}, maximum{};  ///< inclusive, for numbers (each entry of a list)
  int least_entries = 0, most_entries = -1;    ///< for lists; -1: any number
  std::vector<Option> options{};               ///< for `map` and `one_of`
  std::string range_text{};                    ///< states the range in the manual if `minimum` and `maximum` cannot
  std::string with{};  ///< for a `file` with a default: another option of the same map; unless either is given,
                       ///< nothing is written there
};

// Options that are paths: texts that become absolute when they are read, since the program may change its working
// directory after it has opened a session.

/// `range_text` of a text option that is a path or a list of paths. Relative ones begin in rank 0's working directory
/// at `open`.
inline constexpr const char* path_range = "relative to the working directory at `open`, or absolute";
/// `range_text` of paths that are first searched in the folder of the configuration's file.
inline constexpr const char* path_beside_range = "beside the configuration, or in the working directory at `open`";

[[nodiscard]] inline bool is_beside_path(const Option& option) noexcept {
  return std::string_view(option.range_text) == path_beside_range;
}
[[nodiscard]] inline bool is_path(const Option& option) noexcept {
  return is_beside_path(option) || std::string_view(option.range_text) == path_range;
}

/// Line and column in a file, both counted from 1. The file is empty if the value is a default or was set by a call.
struct Location {
  std::string file;
  int line = 0, column = 0;
  [[nodiscard]] std::string text() const;  ///< `file:line:column`, or "" when unknown
};

/// The checked values of a set of options; a copy shares them. Throws Error(internal) if an option that is read was not
/// declared, has another type, or has no value; call `has` first. Texts and lists without a value are empty instead.
class Settings {
 public:
  struct Value;
  using Map = std::map<std::string, Value, std::less<>>;
  using List = std::vector<Value>;
  struct Value {
    Location location;
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::shared_ptr<List>, std::shared_ptr<Map>>
        content;
    bool given = false;  ///< in the file, not a default
  };

  Settings() : values_(std::make_shared<Map>()) {}
  Settings(std::shared_ptr<const Map> values, Location location)
      : values_(std::move(values)), location_(std::move(location)) {}

  /// True if the option has a value, given or default.
  [[nodiscard]] bool has(std::string_view name) const;
  /// True if the file gives it.
  [[nodiscard]] bool given(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  /// Value of an `integer` or `bytes` option, as a T. Throws Error(configuration) with the location of a number that T
  /// cannot hold, since the type that holds the number is part of its range.
  template <std::integral T = std::int64_t>
  [[nodiscard]] T integer(std::string_view name) const {
    return static_cast<T>(integer_between(name, lowest<T>(), highest<T>()));
  }
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;  ///< text, choice, file, variable, mesh, schedule
  template <std::integral T = std::int64_t>
  [[nodiscard]] std::vector<T> integers(std::string_view name) const {
    const std::vector<std::int64_t> wide = integers_between(name, lowest<T>(), highest<T>());
    return {wide.begin(), wide.end()};
  }
  [[nodiscard]] std::vector<double> reals(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  [[nodiscard]] Settings map(std::string_view name) const;
  [[nodiscard]] std::vector<Settings> maps(std::string_view name) const;
  [[nodiscard]] std::map<std::string, std::string> pairs(std::string_view name) const;
  /// The key and content of a `one_of` option.
  [[nodiscard]] std::pair<std::string, Settings> one_of(std::string_view name) const;
  [[nodiscard]] std::vector<std::pair<std::string, Settings>> ones_of(std::string_view name) const;

  /// Location of the option, or of this map if it is not given.
  [[nodiscard]] Location where(std::string_view name) const;
  [[nodiscard]] const Location& where() const noexcept { return location_; }
  /// Throws Error(configuration) with the option's location before the message. The message says what was found, what
  /// was expected and what to change.
  [[noreturn]] void fail(std::string_view name, const std::string& message) const;

 private:
  template <std::integral T>
  static constexpr std::int64_t lowest() noexcept {
    return std::is_signed_v<T> ? static_cast<std::int64_t>(std::numeric_limits<T>::min()) : 0;
  }
  template <std::integral T>
  static constexpr std::int64_t highest() noexcept {
    return std::in_range<std::int64_t>(std::numeric_limits<T>::max())
               ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
               : std::numeric_limits<std::int64_t>::max();
  }
  [[nodiscard]] std::int64_t integer_between(std::string_view name, std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::vector<std::int64_t> integers_between(std::string_view name, std::int64_t least,
                                                           std::int64_t most) const;
  [[nodiscard]] const Value& value(std::string_view name) const;
  std::shared_ptr<const Map> values_;
  Location location_;
};

}  // namespace sidestream
