// YAML text to a tree of nodes with places (yaml-cpp's events).
//
// 1. check_characters: UTF-8 without control characters.
// 2. TreeBuilder: builds lists and maps. It refuses tags, keys that occur twice, and keys that are no names; references
//    are copied, up to a limit.
// 3. Errors of yaml-cpp are replaced by sentences with a remedy (syntax_message) at the place that helps most, such as
//    the bracket that is never closed.
#include "config/options/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>
#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "config/options/former_names.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

const Entry* Node::find(std::string_view key) const noexcept {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string Node::description() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
    case Kind::scalar:
      break;
  }
  return fmt::format("'{}'", text);
}

namespace {

/// Positions in one text.
class Places {
 public:
  Places(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {
    for (std::size_t n = 0; n < text.size(); ++n) {
      if (text[n] == '\n') line_starts_.push_back(n + 1);
    }
  }

  /// The position of a byte. Columns count characters, as editors do, not bytes.
  [[nodiscard]] Location at(std::size_t offset) const {
    offset = std::min(offset, text_.size());
    const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    return {file_, static_cast<int>(next - line_starts_.begin()), column(*(next - 1), offset)};
  }

  [[nodiscard]] Location at(const YAML::Mark& mark) const {
    return at(mark.is_null() ? text_.size() : static_cast<std::size_t>(mark.pos));
  }

  /// The position of the dash of an empty list entry; yaml-cpp reports the token behind it.
  [[nodiscard]] Location of_empty_entry(const YAML::Mark& mark) const {
    std::size_t offset = std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
    const std::size_t last = offset == 0 ? std::string::npos : text_.find_last_not_of(" \t\r\n", offset - 1);
    if (last != std::string::npos && text_[last] == '-') offset = last;
    return at(offset);
  }

  /// Checks that a quote is closed, since yaml-cpp accepts one that runs to the end of the file.
  void check_closed(const YAML::Mark& mark) const {
    std::size_t n = static_cast<std::size_t>(std::max(mark.pos, 0));
    if (n >= text_.size() || (text_[n] != '"' && text_[n] != '\'')) return;
    const char quote = text_[n];
    for (++n; n < text_.size(); ++n) {
      if (quote == '"' && text_[n] == '\\') {
        ++n;
      } else if (text_[n] == quote) {
        const bool doubled = quote == '\'' && n + 1 < text_.size() && text_[n + 1] == quote;
        if (!doubled) return;
        ++n;
      }
    }
    fail_at(at(mark), "found a quote ({}) that is never closed, expected another; close it", quote);
  }

 private:
  /// The column, counted from the last position requested: a line may be megabytes long and hold every value of the
  /// file.
  [[nodiscard]] int column(std::size_t line_start, std::size_t offset) const {
    if (last_.line_start != line_start || last_.offset > offset) last_ = {line_start, line_start, 1};
    const auto passed = std::string_view(text_).substr(last_.offset, offset - last_.offset);
    last_.column += static_cast<int>(count_code_points(passed));
    last_.offset = offset;
    return last_.column;
  }

  struct Last {
    std::size_t line_start = 0, offset = 0;
    int column = 1;
  };
  const std::string& text_;
  std::string file_;
  std::vector<std::size_t> line_starts_{0};
  mutable Last last_;
};

/// Builds the tree from yaml-cpp's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const Places& places) : places_(places) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    const bool in_list = !open_.empty() && open_.back().node.kind == Node::Kind::list;
    node.where = in_list ? places_.of_empty_entry(mark) : places_.at(mark);
    add(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node;
    node.where = places_.at(mark);
    refuse_tag(tag, node.where);
    node.kind = Node::Kind::scalar;
    node.text = value;
    node.quoted = tag == "!";
    places_.check_closed(mark);
    // Escapes can write a zero character, which would end a name for the operating system.
    if (value.find('\0') != std::string::npos) {
      fail_at(node.where, "found the character 0 (\\0) in a text, expected none; remove it");
    }
    const bool is_null = !node.quoted && (value.empty() || value == "~" || value == "null");
    if (is_null) node.kind = Node::Kind::null;
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      fail_at(places_.at(mark), "found a reference (*) to a value that contains it; write the value out");
    }
    Node node = found->second;
    node.where = places_.at(mark);
    count_nodes(node, node.where);
    add(std::move(node), 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(Node::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(Node::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { end(); }

  /// The position of the innermost open list or map.
  [[nodiscard]] const Location* innermost() const { return open_.empty() ? nullptr : &open_.back().node.where; }

  Node root;

 private:
  /// A list or map that is still open.
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    std::optional<Entry> entry{};                  ///< in a map: the key of the next value
    std::unordered_map<std::string, int> lines{};  ///< in a map: line of each key
  };

  void refuse_tag(const std::string& tag, const Location& where) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    fail_at(where, "found the YAML tag '{}', expected a plain value; remove the tag", tag);
  }

  void begin(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    Open open{{}, 0};
    open.node.kind = kind;
    open.node.where = places_.at(mark);
    refuse_tag(tag, open.node.where);
    open.anchor = anchor;
    open_.push_back(std::move(open));
  }

  void end() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root = std::move(node);
    } else if (open_.back().node.kind == Node::Kind::list) {
      open_.back().node.items.push_back(std::move(node));
    } else if (!open_.back().entry) {
      begin_entry(node);
    } else {
      Entry entry = std::move(*open_.back().entry);
      open_.back().entry.reset();
      if (node.kind == Node::Kind::null) node.where = entry.where;
      entry.value = std::move(node);
      open_.back().node.entries.push_back(std::move(entry));
    }
  }

  void begin_entry(const Node& key) {
    if (key.kind != Node::Kind::scalar) {
      fail_at(key.where, "found {} as a key, expected a name; put a name before the ':'", key.description());
    }
    const auto [first, is_new] = open_.back().lines.emplace(key.text, key.where.line);
    if (!is_new) {
      fail_at(key.where, "found the key '{}' a second time (first in line {}), expected it once; remove one of the two",
              key.text, first->second);
    }
    open_.back().entry = Entry{key.text, key.where, {}};
  }

  /// Limits the number of nodes, since references to references can make a small file expand without bound.
  void count_nodes(const Node& node, const Location& where) {
    constexpr int limit = 100'000;
    if (++copied_ > limit) {
      fail_at(where, "found references (*) that expand to more than {} values, expected fewer; write them out", limit);
    }
    for (const Node& item : node.items) count_nodes(item, where);
    for (const Entry& entry : node.entries) count_nodes(entry.value, where);
  }

  const Places& places_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  int copied_ = 0;
};

void check_characters(const std::string& text, const Places& places) {
  if (const auto bad = first_invalid_utf8(text)) {
    fail_at(places.at(*bad),
            "found the byte 0x{:02x}, which is not UTF-8, expected UTF-8 text; save the file in that encoding",
            static_cast<unsigned>(static_cast<unsigned char>(text[*bad])));
  }
  for (std::size_t n = 0; n < text.size(); ++n) {
    const auto c = static_cast<unsigned char>(text[n]);
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') {
      fail_at(places.at(n), "found the control character 0x{:02x}, expected text; remove it", static_cast<unsigned>(c));
    }
  }
}

/// The first tab in the indentation of a line up to `end`, if any.
std::optional<std::size_t> tab_in_indentation(const std::string& text, std::size_t end) {
  bool leading = true;
  for (std::size_t n = 0; n < text.size() && (n <= end || leading); ++n) {
    if (leading && text[n] == '\t') return n;
    leading = text[n] == '\n' || (leading && text[n] == ' ');
  }
  return std::nullopt;
}

Node build(const std::string& text, const Places& places) {
  std::istringstream stream(text);
  TreeBuilder builder(places);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      builder.root.where = places.at(std::size_t{0});
      return std::move(builder.root);
    }
    TreeBuilder second(places);
    if (parser.HandleNextDocument(second)) {
      fail_at(second.root.where, "found a second YAML document, expected one; remove the '---' before it");
    }
  } catch (const YAML::Exception& error) {
    const std::size_t end = error.mark.is_null() ? text.size() : static_cast<std::size_t>(error.mark.pos);
    if (const auto tab = tab_in_indentation(text, end)) {
      fail_at(places.at(*tab), "found a tab in the indentation, expected spaces; replace the tab by spaces");
    }
    // For a bracket that is never closed, its position is more useful than the end of the file.
    const bool unclosed = error.msg.find("flow not found") != std::string::npos && builder.innermost() != nullptr;
    fail_at(unclosed ? *builder.innermost() : places.at(end), "{}", syntax_message(error.msg));
  }
  return std::move(builder.root);
}

}  // namespace

Node parse_node(const std::string& text, const std::string& file) {
  constexpr std::string_view mark = "\xef\xbb\xbf";  // the byte order mark, which some editors write
  const std::string content = text.rfind(mark, 0) == 0 ? text.substr(mark.size()) : text;
  const Places places(content, file);
  check_characters(content, places);
  return build(content, places);
}

Document::Document(std::string file, Node root, std::string folder)
    : file_(std::move(file)), folder_(std::move(folder)), root_(std::move(root)) {
  rename_former(root_);
}

std::shared_ptr<const Document> parse_document(const std::string& text, const std::string& file) {
  return parse_document(text, file, {});
}

std::shared_ptr<const Document> parse_document(const std::string& text, const std::string& file,
                                               const std::string& folder) {
  Node root = parse_node(text, file);
  if (root.kind == Node::Kind::null) {
    root.where = {file, 1, 1};
    fail_at(root.where,
            "found an empty configuration, expected sections such as 'meshes:' and 'analyses:'; to run "
            "without Sidestream write 'placement: off'");
  }
  if (root.kind != Node::Kind::map) {
    fail_at(root.where,
            "found {} at the top, expected sections such as 'meshes:' and 'analyses:'; begin each with its "
            "name and a ':'",
            root.description());
  }
  return std::make_shared<const Document>(file, std::move(root), folder);
}

namespace {

// Prefixes of yaml-cpp 0.7's messages and their replacements.
using Pair = std::pair<std::string_view, std::string_view>;
constexpr Pair sentences[] = {
    {"end of map flow not found", "found a '{' without its '}'; add the '}'"},
    {"end of map not found",
     "found a line that does not fit the map before it, expected 'name: value' with the same "
     "indentation; indent it like the entries around it"},
    {"end of sequence flow not found", "found a '[' without its ']', or a missing comma; add it"},
    {"end of sequence not found",
     "found a line that does not fit the list before it, expected '- ...' with the same "
     "indentation; indent it like the entries around it"},
    {"illegal map value",
     "found a ':' where no value can start, expected one 'name: value' a line; check the "
     "indentation of this line and the one before, or put a text that contains ':' in quotes"},
    {"illegal block entry", "found a '-' where no list entry can start; put it on a line of its own"},
    {"illegal map key", "found a '?' where no key can start; put the text in quotes"},
    {"illegal flow end", "found a ']' or '}' without its beginning; remove it or add the '[' or '{'"},
    {"illegal EOF in scalar", "found a quote that is never closed; close it"},
    {"illegal document indicator in scalar", "found '---' or '...' inside quotes; close the quote before it"},
    {"unknown token",
     "found a character that cannot start a value (such as @ ` %), expected a value; put it in quotes"},
    {"unknown escape character", "found an unknown escape after '\\' in double quotes; use single quotes or '\\\\'"},
    {"the referenced anchor is not defined",
     "found a reference (*name) to a value that no '&name' before it defines; "
     "define it first, or put a text that begins with '*' in quotes"},
    {"alias not found after *", "found a '*' without a name; put a text that begins with '*' in quotes"},
    {"anchor not found after &", "found an '&' without a name; put a text that begins with '&' in quotes"},
    {"illegal character found while scanning alias", "found a '*' at the start of a text; put it in quotes"},
    {"illegal character found while scanning anchor", "found an '&' at the start of a text; put it in quotes"},
    {"unexpected character in block scalar", "found text after '|' or '>'; begin the text on the next line"},
    {"cannot assign multiple", "found two tags or anchors on one value; keep one"},
    {"bad file", "found lists or maps nested too deeply, expected a few levels; close their brackets"},
    {"repeated YAML directive", "found a second %YAML line; remove it"},
};

}  // namespace

std::string syntax_message(const std::string& yaml_message) {
  for (const auto& [from, to] : sentences) {
    if (yaml_message.rfind(from, 0) == 0) return std::string(to);
  }
  return fmt::format("found text that is not YAML ({}), expected 'name: value' lines; correct it", yaml_message);
}

}  // namespace sidestream
