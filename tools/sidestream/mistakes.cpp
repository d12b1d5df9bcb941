// All mistakes of a configuration, although reading stops at the first.
//
// The entry with a mistake is removed, and the rest is examined again, until nothing fails. Later messages that only
// follow from an entry that was removed are dropped: those that name it, that miss an option there, or that name what a
// task with a mistake makes. The mistakes are sorted by position.
#include "check_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sidestream/error.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {
namespace {

using Position = std::array<int, 3>;  // index of the file, line and column

/// The configuration, file 0, and the other sources of entries: `--declared FILE`, `--variable NAME`.
class Files {
 public:
  Files(const std::string& file, const Node& root) : names_{file} { add(root); }

  [[nodiscard]] Position position_of(const Location& where) const {
    const auto found = std::find(names_.begin(), names_.end(), where.file);
    return {found == names_.end() ? -1 : static_cast<int>(found - names_.begin()), where.line, where.column};
  }

  /// The position that a message gives.
  [[nodiscard]] std::optional<Position> position_in(const std::string& message) const {
    for (const std::string& name : names_) {
      if (const auto where = place_in(message, name)) return position_of({name, where->first, where->second});
    }
    return std::nullopt;
  }

 private:
  /// Line and column in this file.
  static std::optional<std::pair<int, int>> place_in(const std::string& message, const std::string& file) {
    if (!message.starts_with(file + ":")) return std::nullopt;
    std::pair<int, int> place;
    const char* const end = message.data() + message.size();
    const auto line = std::from_chars(message.data() + file.size() + 1, end, place.first);
    if (line.ec != std::errc{} || line.ptr == end || *line.ptr != ':') return std::nullopt;
    const auto column = std::from_chars(line.ptr + 1, end, place.second);
    if (column.ec != std::errc{} || column.ptr == end || *column.ptr != ':') return std::nullopt;
    return place;
  }

  void add(const Node& root) {
    for (const Entry& section : root.entries) {
      for (const Entry& entry : section.value.entries) {
        const std::string& file = entry.where.file;
        if (!file.empty() && std::find(names_.begin(), names_.end(), file) == names_.end()) names_.push_back(file);
      }
    }
  }

  std::vector<std::string> names_;
};

/// An entry of a map, or an item of a list.
struct Child {
  Node* parent;
  std::size_t number;

  [[nodiscard]] bool is_entry() const { return parent->kind == Node::Kind::map; }
  [[nodiscard]] Node& value() const { return is_entry() ? parent->entries[number].value : parent->items[number]; }
  [[nodiscard]] std::string key() const { return is_entry() ? parent->entries[number].key : std::string(); }
  [[nodiscard]] const Location& where() const {
    return is_entry() ? parent->entries[number].where : parent->items[number].where;
  }
  void remove() const {
    const auto at = static_cast<std::ptrdiff_t>(number);
    if (is_entry()) {
      parent->entries.erase(parent->entries.begin() + at);
    } else {
      parent->items.erase(parent->items.begin() + at);
    }
  }
};

/// The last child that begins at the position or before it, in the same file.
std::optional<Child> child_at(Node& node, const Position& position, const Files& files) {
  const std::size_t count = node.kind == Node::Kind::map ? node.entries.size() : node.items.size();
  for (std::size_t n = count; n > 0; --n) {
    const Child child{&node, n - 1};
    const Position begin = files.position_of(child.where());
    if (begin[0] == position[0] && begin <= position) return child;
  }
  return std::nullopt;
}

/// Path to the section and its entry that came from another file.
std::vector<Child> path_to_added(Node& root, const Position& position, const Files& files) {
  std::vector<Child> path;
  for (std::size_t n = 0; n < root.entries.size(); ++n) {
    const Child section{&root, n};
    const auto entry = child_at(section.value(), position, files);
    if (!entry) continue;
    if (!path.empty() && files.position_of(path.back().where()) > files.position_of(entry->where())) continue;
    path = {section, *entry};
  }
  return path;
}

/// Path from the root to the last child that begins at the position or before it.
std::vector<Child> path_to(Node& root, const Position& position, const Files& files) {
  std::vector<Child> path;
  if (position[0] != 0) path = path_to_added(root, position, files);
  if (position[0] != 0 && path.empty()) return path;
  Node* const begin = path.empty() ? &root : &path.back().value();
  for (auto child = child_at(*begin, position, files); child; child = child_at(child->value(), position, files)) {
    path.push_back(*child);
  }
  // `- histogram: {...}`: an item without its only entry would be empty.
  if (path.size() > 1 && path.back().is_entry() && path.back().parent->entries.size() == 1 &&
      !path[path.size() - 2].is_entry()) {
    path.pop_back();
  }
  return path;
}

/// True if `word` is in the text, but not as a part of a longer name.
bool names(std::string_view text, std::string_view word) {
  const auto is_of_name = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_of_name(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !is_of_name(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

class Search {
 public:
  Search(const Document& document, const std::function<void(const Document&)>& examine)
      : document_(document), files_(document.file(), document.root()), root_(document.root()), examine_(examine) {}

  std::vector<std::string> all() {
    constexpr int most = 100;
    for (int n = 0; n < most && next(); ++n) {
    }
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> messages;
    for (auto& [where, message] : found_) messages.push_back(std::move(message));
    return messages;
  }

 private:
  /// Finds the next mistake. Returns false if there is none, or none that can be located.
  bool next() {
    std::string message;
    std::optional<Position> where;
    try {
      examine_(Document(document_.file(), root_, document_.folder()));
      return false;
    } catch (const MistakeAt& mistake) {
      message = mistake.message;
      where = files_.position_of(mistake.where);
    } catch (const Error& error) {
      if (error.code() != Code::configuration && found_.empty() && touched_.empty()) throw;
      if (error.code() != Code::configuration) return false;
      message = error.what();
      where = files_.position_in(message);
    }
    if (!where) {
      if (!names_removed_entry(message)) found_.emplace_back(Position{INT32_MAX, 0, 0}, message);
      return false;
    }
    std::vector<Child> path = path_to(root_, *where, files_);
    if (path.empty()) return false;
    const bool again = message == last_;
    last_ = message;
    if (again && path.size() > 1) path.pop_back();  // removing that one has not helped
    if (!again && !follows(message, path)) found_.emplace_back(*where, message);
    // A mesh without its wrong array is no mesh, so it goes as a whole.
    if (path.size() > 1 && lacks_removed_entry(message, begin_of(path[path.size() - 2]))) path.pop_back();
    leave_out(path, message);
    return true;
  }

  [[nodiscard]] Position begin_of(const Child& child) const { return files_.position_of(child.where()); }

  [[nodiscard]] bool names_removed_entry(const std::string& message) const {
    return std::any_of(removed_.begin(), removed_.end(),
                       [&](const std::string& name) { return message.find("'" + name + "'") != std::string::npos; });
  }

  [[nodiscard]] bool follows(const std::string& message, const std::vector<Child>& path) const {
    const std::string& text = path.back().value().text;
    const auto is_named = [&](const std::string& name) { return names(text, name); };
    if (names_removed_entry(message) || std::any_of(removed_.begin(), removed_.end(), is_named)) return true;
    if (names_removed_option(message, path) || names_made(message)) return true;
    const auto needs = [&](const Position& parent) {
      return needs_removed_entry(message, parent) || lacks_removed_entry(message, parent);
    };
    if (path.size() > 1 && needs(begin_of(path[path.size() - 2]))) return true;
    const auto touched = touched_.find(begin_of(path.back()));
    if (touched == touched_.end()) return false;
    constexpr std::string_view missing = "found no '";
    const std::size_t at = message.find(missing);
    if (at == std::string::npos) return true;
    return touched->second.count(quoted_at(message, at + missing.size())) > 0;
  }

  /// True for "found 'keep_back' without 'when'" in a task of which `when` was removed.
  [[nodiscard]] bool names_removed_option(const std::string& message, const std::vector<Child>& path) const {
    const auto named = [&](const Child& parent) {
      const auto options = options_.find(begin_of(parent));
      return options != options_.end() && std::ranges::any_of(options->second, [&](const std::string& option) {
               const auto is_in = [&](const std::string& form) { return message.find(form) != std::string::npos; };
               return is_in("'" + option + "'") || is_in("'" + option + ":") || is_in("`" + option + ":");
             });
    };
    if (std::ranges::any_of(path, named)) return true;
    // `[{histogram: {...}}]`: the item of a list begins before its only entry.
    Node& last = path.back().value();
    return !path.back().is_entry() && last.entries.size() == 1 && named(Child{&last, 0});
  }

  /// True if the message names a mesh, or a variable of it, that a task with a mistake makes.
  [[nodiscard]] bool names_made(const std::string& message) const {
    if (makes_unnamed_ && message.find("expected a declared ") != std::string::npos) return true;
    return std::ranges::any_of(made_, [&](const std::string& mesh) {
      return message.find("'" + mesh + "'") != std::string::npos || message.find("'" + mesh + "_") != std::string::npos;
    });
  }

  /// True for "`position` needs `axis: x`", or "found neither 'axis' nor 'normal'", if the entry `axis` was removed.
  [[nodiscard]] bool needs_removed_entry(const std::string& message, const Position& parent) const {
    const auto touched = touched_.find(parent);
    const bool neither = message.find("found neither ") != std::string::npos;
    const auto needed = [&](const std::string& key) {
      if (key.empty()) return false;
      return message.find("`" + key) != std::string::npos ||
             (neither && message.find("'" + key + "'") != std::string::npos);
    };
    return touched != touched_.end() && std::any_of(touched->second.begin(), touched->second.end(), needed);
  }

  /// True for "and has no coordinates; ..." if the entry `coordinates` was removed.
  [[nodiscard]] bool lacks_removed_entry(const std::string& message, const Position& parent) const {
    const auto touched = touched_.find(parent);
    const auto lacked = [&](const std::string& key) {
      return !key.empty() && message.find(" and has no " + key + ";") != std::string::npos;
    };
    return touched != touched_.end() && std::any_of(touched->second.begin(), touched->second.end(), lacked);
  }

  /// The text up to the next quotation mark.
  static std::string quoted_at(const std::string& message, std::size_t begin) {
    return message.substr(begin, message.find('\'', begin) - begin);
  }

  void leave_out(const std::vector<Child>& path, const std::string& message) {
    for (std::size_t n = 0; n + 1 < path.size(); ++n) touched_[begin_of(path[n])].insert(path[n + 1].key());
    if (path.size() > 1 && path.back().is_entry()) options_[begin_of(path[path.size() - 2])].insert(path.back().key());
    note_made(path);
    // The suggested entry does not count as missing, too.
    constexpr std::string_view guess = "did you mean '";
    const std::size_t at = message.find(guess);
    if (at != std::string::npos && path.size() > 1) {
      touched_[begin_of(path[path.size() - 2])].insert(quoted_at(message, at + guess.size()));
    }
    if (path.size() == 1) {
      for (const Entry& entry : path[0].value().entries) declared(path[0].key(), entry.key);
    } else if (path.size() == 2) {
      declared(path[0].key(), path[1].key());
    }
    for (const Entry& entry : path.back().value().entries) {  // entries of a task
      if (entry.value.kind != Node::Kind::map) continue;
      for (const char* option : {"group", "name"}) {
        const Entry* given = entry.value.find(option);
        if (given != nullptr) removed_.insert(given->value.text);
      }
    }
    path.back().remove();
  }

  /// Notes the meshes that the task makes which has the mistake.
  void note_made(const std::vector<Child>& path) {
    for (const Child& child : path) {
      for (const Node* const node : {static_cast<const Node*>(&child.value()), task_in(child.value())}) {
        const Entry* const makes = node && node->kind == Node::Kind::map ? node->find("makes") : nullptr;
        if (makes && !makes->value.text.empty()) made_.insert(makes->value.text);
        makes_unnamed_ |= makes && makes->value.text.empty();
      }
    }
  }

  /// The options of a task, of which the node is the item.
  static const Node* task_in(const Node& item) {
    return item.kind == Node::Kind::map && item.entries.size() == 1 ? &item.entries[0].value : nullptr;
  }

  void declared(const std::string& section, const std::string& name) {
    for (const char* one : {"meshes", "variables", "derived", "parameters", "steering"}) {
      if (section == one && !name.empty()) removed_.insert(name);
    }
  }

  const Document& document_;
  Files files_;
  Node root_;
  const std::function<void(const Document&)>& examine_;
  std::vector<std::pair<Position, std::string>> found_;
  std::map<Position, std::set<std::string>> touched_;  ///< names of removed entries, by position of their parent
  std::map<Position, std::set<std::string>> options_;  ///< the same without those whose parts were removed
  std::set<std::string> made_;                         ///< meshes that tasks with mistakes make
  bool makes_unnamed_ = false;                         ///< one of these tasks does not tell the name
  std::set<std::string> removed_;                      ///< names that are no longer declared
  std::string last_;
};

}  // namespace

std::vector<std::string> mistakes_of(const Document& document, const std::function<void(const Document&)>& examine) {
  return Search(document, examine).all();
}

}  // namespace sidestream
