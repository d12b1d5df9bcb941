#include "mistakes.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "sidestream/error.hpp"

namespace sidestream {
namespace {

using Position = std::pair<int, int>;  // line and column

Position position_of(const Location& where) { return {where.line, where.column}; }

/// Where the message says that it is, in this file.
std::optional<Position> position_in(const std::string& message, const std::string& file) {
  if (!message.starts_with(file + ":")) return std::nullopt;
  Position position;
  const char* const end = message.data() + message.size();
  const auto line = std::from_chars(message.data() + file.size() + 1, end, position.first);
  if (line.ec != std::errc{} || line.ptr == end || *line.ptr != ':') return std::nullopt;
  const auto column = std::from_chars(line.ptr + 1, end, position.second);
  if (column.ec != std::errc{} || column.ptr == end || *column.ptr != ':') return std::nullopt;
  return position;
}

/// An entry of a map, or an item of a list.
struct Child {
  Node* parent;
  std::size_t number;

  [[nodiscard]] bool is_entry() const { return parent->kind == Node::Kind::map; }
  [[nodiscard]] Node& value() const { return is_entry() ? parent->entries[number].value : parent->items[number]; }
  [[nodiscard]] std::string key() const { return is_entry() ? parent->entries[number].key : std::string(); }
  [[nodiscard]] Position begin() const {
    return position_of(is_entry() ? parent->entries[number].where : parent->items[number].where);
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

/// From the root to the last one that begins at the place or before it.
std::vector<Child> path_to(Node& root, const Position& position) {
  std::vector<Child> path;
  for (Node* node = &root; node != nullptr;) {
    const std::size_t count = node->kind == Node::Kind::map ? node->entries.size() : node->items.size();
    Node* next = nullptr;
    for (std::size_t n = count; n > 0 && next == nullptr; --n) {
      const Child child{node, n - 1};
      if (child.begin() > position) continue;
      path.push_back(child);
      next = &child.value();
    }
    node = next;
  }
  // `- histogram: {...}`: nothing is left of an item without its only entry.
  if (path.size() > 1 && path.back().is_entry() && path.back().parent->entries.size() == 1 &&
      !path[path.size() - 2].is_entry()) {
    path.pop_back();
  }
  return path;
}

/// Whether `word` stands in the text, and not as a part of a longer name.
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
      : file_(document.file()), root_(document.root()), examine_(examine) {}

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
  /// False: there is no more, or none that can be found.
  bool next() {
    std::string message;
    std::optional<Position> where;
    try {
      examine_(Document(file_, root_));
      return false;
    } catch (const MistakeAt& mistake) {
      message = mistake.message;
      where = position_of(mistake.where);
    } catch (const Error& error) {
      if (error.code() != Code::configuration && found_.empty() && touched_.empty()) throw;
      if (error.code() != Code::configuration) return false;
      message = error.what();
      where = position_in(message, file_);
    }
    if (!where) {
      found_.emplace_back(Position{INT32_MAX, 0}, message);
      return false;
    }
    std::vector<Child> path = path_to(root_, *where);
    if (path.empty()) return false;
    const bool again = message == last_;
    last_ = message;
    if (again && path.size() > 1) path.pop_back();  // leaving out that one has not helped
    if (!again && !follows(message, path)) found_.emplace_back(*where, message);
    leave_out(path);
    return true;
  }

  [[nodiscard]] bool follows(const std::string& message, const std::vector<Child>& path) const {
    const std::string text = path.back().value().text;
    for (const std::string& name : gone_) {
      if (message.find("'" + name + "'") != std::string::npos || names(text, name)) return true;
    }
    if (path.size() > 1 && needs_what_is_gone(message, path[path.size() - 2].begin())) return true;
    const auto touched = touched_.find(path.back().begin());
    if (touched == touched_.end()) return false;
    constexpr std::string_view missing = "found no '";
    const std::size_t at = message.find(missing);
    if (at == std::string::npos) return true;
    const std::size_t begin = at + missing.size();
    return touched->second.count(message.substr(begin, message.find('\'', begin) - begin)) > 0;
  }

  /// "`position` needs `axis: x`", where the axis beside it was left out.
  [[nodiscard]] bool needs_what_is_gone(const std::string& message, const Position& parent) const {
    const auto touched = touched_.find(parent);
    return touched != touched_.end() &&
           std::any_of(touched->second.begin(), touched->second.end(), [&](const std::string& key) {
             return !key.empty() && message.find("`" + key) != std::string::npos;
           });
  }

  void leave_out(const std::vector<Child>& path) {
    for (std::size_t n = 0; n + 1 < path.size(); ++n) touched_[path[n].begin()].insert(path[n + 1].key());
    if (path.size() == 1) {
      for (const Entry& entry : path[0].value().entries) declared(path[0].key(), entry.key);
    } else if (path.size() == 2) {
      declared(path[0].key(), path[1].key());
    }
    for (const Entry& entry : path.back().value().entries) {  // of a task
      if (entry.value.kind != Node::Kind::map) continue;
      for (const char* option : {"group", "name"}) {
        const Entry* given = entry.value.find(option);
        if (given != nullptr) gone_.insert(given->value.text);
      }
    }
    path.back().remove();
  }

  void declared(const std::string& section, const std::string& name) {
    for (const char* one : {"meshes", "variables", "derived", "parameters", "steering"}) {
      if (section == one && !name.empty()) gone_.insert(name);
    }
  }

  std::string file_;
  Node root_;
  const std::function<void(const Document&)>& examine_;
  std::vector<std::pair<Position, std::string>> found_;
  std::map<Position, std::set<std::string>> touched_;  ///< what was left out of entries, by where these are
  std::set<std::string> gone_;                         ///< names that nothing declares any longer
  std::string last_;
};

}  // namespace

std::vector<std::string> mistakes_of(const Document& document, const std::function<void(const Document&)>& examine) {
  return Search(document, examine).all();
}

}  // namespace sidestream
