#include "storage/database/json.hpp"

#include <charconv>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::database {

namespace {

constexpr int most_depth = 16;

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Node whole() {
    Node root = value(0);
    skip();
    if (at_ != text_.size()) wrong("more behind its end");
    return root;
  }

 private:
  [[noreturn]] void wrong(const char* what) const { fail(Code::file, "no JSON: {} at byte {}", what, at_); }

  void skip() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  /// The next character that is no space; 0: there is none.
  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  Node value(int depth) {
    if (depth > most_depth) wrong("lists in lists without end");
    Node node;
    const char first = next();
    if (first == '[') {
      list(node, depth);
    } else if (first == '{') {
      map(node, depth);
    } else {
      node.kind = Node::Kind::scalar;
      node.quoted = first == '"';
      node.text = node.quoted ? quoted() : plain();
    }
    return node;
  }

  void list(Node& node, int depth) {
    node.kind = Node::Kind::list;
    ++at_;
    if (take(']')) return;
    do {
      node.items.push_back(value(depth + 1));
    } while (take(','));
    if (!take(']')) wrong("a list that does not end");
  }

  void map(Node& node, int depth) {
    node.kind = Node::Kind::map;
    ++at_;
    if (take('}')) return;
    do {
      if (next() != '"') wrong("no key");
      sidestream::Entry& entry = node.entries.emplace_back();
      entry.key = quoted();
      if (!take(':')) wrong("a key without a value");
      entry.value = value(depth + 1);
    } while (take(','));
    if (!take('}')) wrong("an object that does not end");
  }

  std::string plain() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
    if (at_ == begin) wrong("no value");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted() {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') {
        escaped(out);
      } else {
        out += text_[at_];
      }
    }
    if (at_ == text_.size()) wrong("a text that does not end");
    ++at_;
    return out;
  }

  /// From the backslash to the last character of what it begins.
  void escaped(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (++at_ == text_.size()) wrong("a text that does not end");
    const std::size_t known = letters.find(text_[at_]);
    if (known != std::string_view::npos) {
      out += meanings[known];
    } else if (text_[at_] == 'u') {
      put_utf8(out, code_point());
    } else {
      wrong("an unknown character behind a backslash");
    }
  }

  std::uint32_t four_digits() {
    std::uint32_t value = 0;
    const char* first = text_.data() + at_ + 1;
    if (text_.size() - at_ < 5 || std::from_chars(first, first + 4, value, 16).ptr != first + 4)
      wrong("no four digits");
    at_ += 4;
    return value;
  }

  /// From the `u` on. Characters beyond 16 bits are two halves.
  std::uint32_t code_point() {
    const std::uint32_t first = four_digits();
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || text_.substr(at_ + 1, 2) != "\\u") wrong("half a character");
    at_ += 2;
    const std::uint32_t second = four_digits();
    if (second < 0xdc00 || second > 0xdfff) wrong("half a character");
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }

  static void put_utf8(std::string& out, std::uint32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | code >> 6);
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0 | code >> 12);
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xf0 | code >> 18);
      tail(12);
      tail(6);
      tail(0);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Node parse_json(std::string_view text) { return Parser(text).whole(); }

}  // namespace sidestream::database
