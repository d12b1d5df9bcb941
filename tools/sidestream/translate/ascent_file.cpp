#include "translate/ascent_file.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream::ascent {

void Remarks::add(const Location& where, const std::string& text) {
  std::string line = where.text() + ": " + text + "\n";
  if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) lines_.push_back(std::move(line));
}

std::string Remarks::text() const {
  std::string all;
  for (const std::string& line : lines_) all += line;
  return all;
}

Part::~Part() {
  if (node_ == nullptr || quiet_) return;
  for (const Entry& entry : node_->entries) {
    if (read_.count(entry.key) == 0) remarks_.add(entry.where, "'" + entry.key + "' has no counterpart");
  }
}

const Entry* Part::find(const std::string& key) {
  read_.insert(key);
  return node_ == nullptr ? nullptr : node_->find(key);
}

Part Part::part(const std::string& key) {
  const Entry* const entry = find(key);
  if (entry != nullptr && entry->value.kind != Node::Kind::map) {
    throw Refused(entry->where, fmt::format("'{}' is {}, and a map was expected", key, entry->value.description()));
  }
  return entry == nullptr ? Part(nullptr, where_, remarks_) : Part(&entry->value, entry->where, remarks_);
}

std::string Part::text(const std::string& key, const std::string& otherwise) {
  const Entry* const entry = find(key);
  if (entry == nullptr) return otherwise;
  if (entry->value.kind == Node::Kind::scalar) return entry->value.text;
  throw Refused(entry->where, fmt::format("'{}' is {}, and a text was expected", key, entry->value.description()));
}

std::string Part::need(const std::string& key) {
  std::string found = text(key);
  if (found.empty()) refuse("'" + key + "' is missing");
  return found;
}

namespace {

std::string number_of(const Node& node, const std::string& key) {
  if (node.kind == Node::Kind::scalar && real_of(node.text)) return node.text;
  throw Refused(node.where,
                fmt::format("'{}' is {}, which Ascent computes each time; give a number", key, node.description()));
}

}  // namespace

std::optional<std::string> Part::number(const std::string& key) {
  const Entry* const entry = find(key);
  if (entry == nullptr) return std::nullopt;
  return number_of(entry->value, key);
}

std::vector<std::string> Part::numbers(const std::string& key, std::initializer_list<const char*> of_map) {
  const Entry* const entry = find(key);
  std::vector<std::string> all;
  if (entry == nullptr) return all;
  const Node& node = entry->value;
  if (node.kind == Node::Kind::list) {
    for (const Node& item : node.items) all.push_back(number_of(item, key));
  } else if (node.kind == Node::Kind::map && of_map.size() > 0) {
    Part map(&node, entry->where, remarks_);
    for (const char* const one : of_map) all.push_back(map.number(one).value_or("0"));
  } else {
    all.push_back(number_of(node, key));
  }
  return all;
}

std::vector<std::string> Part::texts(const std::string& key) {
  const Entry* const entry = find(key);
  std::vector<std::string> all;
  if (entry == nullptr) return all;
  if (entry->value.kind == Node::Kind::scalar) all.push_back(entry->value.text);
  for (const Node& item : entry->value.items) all.push_back(item.text);
  return all;
}

bool Part::is_true(const std::string& key) {
  const std::string given = text(key);
  return given == "true" || given == "True" || given == "1" || given == "yes" || given == "on";
}

void Part::ignore(std::initializer_list<const char*> keys) { read_.insert(keys.begin(), keys.end()); }

void Part::drop(std::initializer_list<const char*> keys, const std::string& why) {
  for (const char* const key : keys) {
    if (const Entry* const entry = find(key)) {
      remarks_.add(entry->where, fmt::format("'{}' has no counterpart: {}", key, why));
    }
  }
}

Node read_actions(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(Code::file, "cannot read '{}'; check the path", file);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  // Flow collections of YAML may not be indented by tabs, those of JSON may.
  if (const std::size_t first = text.find_first_not_of(" \t\r\n"); first != std::string::npos && text[first] == '[') {
    std::replace(text.begin(), text.end(), '\t', ' ');
  }
  Node root = parse_node(text, file);
  if (root.kind == Node::Kind::list) return root;
  root.where.file = file;
  fail_at(root.where, "found {} at the top, expected a list of Ascent's actions; is it a file of another kind?",
          root.description());
}

std::string in_quotes(const std::string& text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? "''" : std::string(1, c == '\n' ? ' ' : c);
  return all + "'";
}

std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : name) plain += is_letter_or_digit(c) || c == '-' || c == '.' ? c : '_';
  return plain;
}

std::string in_expression(const std::string& name) {
  const std::string plain = plain_name(name);
  const bool simple = plain.find_first_of("-.") == std::string::npos && !plain.empty() && !is_digit(plain[0]);
  return simple ? plain : "'" + plain + "'";
}

}  // namespace sidestream::ascent
