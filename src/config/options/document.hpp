// The tree of a YAML file, with the position of every node.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

struct Entry;

/// One YAML value. yaml-cpp's own nodes lose the positions of keys and of empty values, accept duplicate keys and do
/// not tell if a text was quoted.
struct Node {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  Location where;       ///< for an empty value: position of its key
  std::string text;     ///< text of a scalar
  bool quoted = false;  ///< scalar in quotes or block style
  std::vector<Node> items;
  std::vector<Entry> entries;  ///< in the file's order, keys unique

  [[nodiscard]] const Entry* find(std::string_view key) const noexcept;
  /// For messages: `'64'`, `a list`, `a map`, `nothing`.
  [[nodiscard]] std::string description() const;
};

/// A key and its value in a map.
struct Entry {
  std::string key;
  Location where;
  Node value;
  std::string formerly{};  ///< the key in the file, where `key` is its new name
};

class Document {
 public:
  /// Keys with former names get their new ones. Throws Error(configuration) where a map has both.
  explicit Document(std::string file, Node root, std::string folder = {});
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// Base of relative paths; empty: they are kept as written.
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const Node& root() const noexcept { return root_; }  ///< a map, if made by parse_document

 private:
  std::string file_, folder_;
  Node root_;
};

/// parse_document for a text whose relative paths begin in `folder`, an absolute path; empty: they are kept as written.
[[nodiscard]] std::shared_ptr<const Document> parse_document(const std::string& text, const std::string& file,
                                                             const std::string& folder);

/// Parses any YAML value, not only a map: used for default values of options.
[[nodiscard]] Node parse_node(const std::string& text, const std::string& file);

// Explanations of the YAML parser's messages.

/// Translates a message of yaml-cpp into a sentence with what was found, what was expected and what to do. Quotes
/// unknown messages.
[[nodiscard]] std::string syntax_message(const std::string& yaml_message);

// Configuration errors that begin with their position.

/// Throws Error(configuration): `file:line:column: message`.
template <class... Args>
[[noreturn]] void fail_at(const Location& where, fmt::format_string<Args...> format, Args&&... args) {
  const std::string place = where.text();
  throw Error(Code::configuration,
              (place.empty() ? "" : place + ": ") + fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace sidestream
