// A file of Ascent's actions that is read completely: keys that nobody reads are remarked.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/options/document.hpp"

namespace sidestream::ascent {

/// Remarks with their places, in the order of the translation; equal ones once.
class Remarks {
 public:
  void add(const Location& where, const std::string& text);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> lines_;
};

/// A part without a counterpart. It is caught where a whole filter, plot or extract can be left out.
class Refused : public std::runtime_error {
 public:
  Refused(Location place, const std::string& why) : std::runtime_error(why), where(std::move(place)) {}
  Location where;
};

/// A map of the file during its translation. The destructor remarks keys that were not read.
class Part {
 public:
  /// `node`: null for a map that is missing.
  Part(const Node* node, Location where, Remarks& remarks) : node_(node), where_(std::move(where)), remarks_(remarks) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part();

  [[nodiscard]] const Location& where() const noexcept { return where_; }
  /// The entry of that key, or null.
  [[nodiscard]] const Entry* find(const std::string& key);
  [[nodiscard]] bool has(const std::string& key) { return find(key) != nullptr; }
  /// The map of that key, empty if it is missing.
  [[nodiscard]] Part part(const std::string& key);
  [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise = "");
  /// A number as it is written. Throws Refused if it is none, for example an expression.
  [[nodiscard]] std::optional<std::string> number(const std::string& key);
  /// Numbers of a list, of one number, or of a map with the given keys.
  [[nodiscard]] std::vector<std::string> numbers(const std::string& key,
                                                 std::initializer_list<const char*> of_map = {});
  /// Texts of a list or of one text.
  [[nodiscard]] std::vector<std::string> texts(const std::string& key);
  [[nodiscard]] bool is_true(const std::string& key);
  /// The text of a key that must be there.
  [[nodiscard]] std::string need(const std::string& key);
  /// Keys that mean nothing to the result.
  void ignore(std::initializer_list<const char*> keys);
  /// Remarks keys that have no counterpart, if they are there, and why.
  void drop(std::initializer_list<const char*> keys, const std::string& why);
  /// Says no more about unread keys, since the whole is remarked.
  void leave_out() noexcept { quiet_ = true; }
  [[noreturn]] void refuse(const std::string& why) const { throw Refused(where_, why); }
  void remark(const std::string& text) const { remarks_.add(where_, text); }

 private:
  const Node* node_;
  Location where_;
  Remarks& remarks_;
  std::set<std::string> read_;
  bool quiet_ = false;
};

/// The actions of a file, YAML or JSON. Throws Error(file) if it cannot be read, and Error(configuration) if it is no
/// list.
[[nodiscard]] Node read_actions(const std::string& file);

/// A text in single quotes, as YAML has it.
[[nodiscard]] std::string in_quotes(const std::string& text);
/// A name as a variable of ours may have it, and as expressions quote it.
[[nodiscard]] std::string plain_name(const std::string& name);
[[nodiscard]] std::string in_expression(const std::string& name);

}  // namespace sidestream::ascent
