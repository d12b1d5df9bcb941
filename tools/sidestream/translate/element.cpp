#include "translate/element.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

void Remarks::add(int line, const std::string& text) {
  const auto [known, is_new] = lines_.try_emplace(text);
  if (is_new) order_.push_back(text);
  if (known->second.empty() || known->second.back() != line) known->second.push_back(line);
}

std::string Remarks::text() const {
  std::vector<std::string> sorted = order_;
  std::stable_sort(sorted.begin(), sorted.end(), [this](const std::string& a, const std::string& b) {
    return lines_.at(a).front() < lines_.at(b).front();
  });
  std::string all;
  for (const std::string& text : sorted) {
    const std::vector<int>& lines = lines_.at(text);
    all += fmt::format("{}:{}: {}", file_, lines.front(), text);
    if (lines.size() > 1) {
      all += fmt::format(" (lines {} too)", fmt::join(lines.begin() + 1, lines.end(), ", "));
    }
    all += '\n';
  }
  return all;
}

XmlElement::~XmlElement() {
  if (left_out_) return;
  for (const auto* attribute = xml_.FirstAttribute(); attribute; attribute = attribute->Next()) {
    const std::string own = attribute->Name();
    if (used_.count(own) > 0 || own == "xmlns" || own.starts_with("xmlns:")) continue;
    remark(fmt::format("<{} {}=\"...\"> has no counterpart and was left out", name(), own));
  }
  if (children_read_) return;
  for (const auto* child = xml_.FirstChildElement(); child; child = child->NextSiblingElement()) {
    remarks_.add(child->GetLineNum(),
                 fmt::format("<{}> in <{}> has no counterpart and was left out", child->Name(), name()));
  }
}

std::string XmlElement::get(const char* attribute, const std::string& otherwise) {
  used_.insert(attribute);
  const char* value = xml_.Attribute(attribute);
  return value ? trimmed(value) : otherwise;
}

std::string XmlElement::need(const char* attribute) {
  const std::string value = get(attribute);
  if (!value.empty()) return value;
  fail(Code::file, "{}:{}: found <{}> without '{}', which it needs; add it", remarks_.file(), line(), name(),
       attribute);
}

void XmlElement::ignore(std::initializer_list<const char*> attributes) {
  for (const char* attribute : attributes) used_.insert(attribute);
}

std::string XmlElement::text() const {
  const char* text = xml_.GetText();
  return text ? trimmed(text) : "";
}

void XmlElement::leave_out(const std::string& why) {
  left_out_ = true;
  remark(fmt::format("<{}> has no counterpart and was left out{}{}", name(), why.empty() ? "" : ": ", why));
}

namespace {

/// Position after `end` if the text at `at` begins with `begin`; otherwise `at`.
std::size_t behind(const std::string& text, std::size_t at, const char* begin, const char* end) {
  if (text.compare(at, std::strlen(begin), begin) != 0) return at;
  const std::size_t found = text.find(end, at);
  return found == std::string::npos ? text.size() : found + std::strlen(end);
}

/// Limits attributes, since the parser compares each one of an element with all others.
void check_width(const std::string& text, const std::string& file) {
  constexpr int most = 1000;
  for (std::size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    const std::size_t comment = behind(text, at, "<!--", "-->"), data = behind(text, at, "<![CDATA[", "]]>");
    if (comment != at || data != at) {
      at = std::max(comment, data);
      continue;
    }
    const std::size_t tag = at;
    int values = 0;
    for (++at; at < text.size() && text[at] != '>'; ++at) {
      if (text[at] != '"' && text[at] != '\'') continue;
      at = std::min(text.find(text[at], at + 1), text.size() - 1);
      if (++values <= most) continue;
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(tag), '\n');
      fail(Code::file,
           "{}:{}: found an element of more than {} attributes, expected a few; is it a file of another "
           "system?",
           file, line, most);
    }
  }
}

}  // namespace

XmlFile::XmlFile(const std::string& file, const std::string& root) {
  if (!std::filesystem::is_regular_file(file)) {
    fail(Code::file, "the file '{}' does not exist or is no file; check the path", file);
  }
  const std::string text = read_file(file);
  check_width(text, file);
  if (document_.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    fail(Code::file, "{}:{}: found what is no XML ({}); correct it", file, std::max(1, document_.ErrorLineNum()),
         document_.ErrorName());
  }
  if (document_.RootElement() == nullptr) fail(Code::file, "{}:1: found no element, expected <{}>", file, root);
  if (local_name(document_.RootElement()->Name()) == root) return;
  fail(Code::file, "{}:{}: found <{}> as the outermost element, expected <{}>; is it a file of another system?", file,
       document_.RootElement()->GetLineNum(), document_.RootElement()->Name(), root);
}

std::string local_name(const std::string& name) { return name.substr(name.find(':') + 1); }

std::string trimmed(const std::string& text) {
  constexpr const char* blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : name) plain += is_letter_or_digit(c) || c == '-' || c == '.' ? c : '_';
  return plain;
}

std::vector<std::string> parts_of(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    const std::string part = trimmed(text.substr(at, end - at));
    if (!part.empty()) parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

std::vector<std::string> numbers_of(const XmlElement& element, const std::string& text, const Remarks& remarks) {
  std::vector<std::string> numbers = parts_of(text, ", \t\r\n");
  for (const std::string& number : numbers) {
    if (real_of(number)) continue;
    fail(Code::file, "{}:{}: found '{}' in <{}>, expected numbers; correct it", remarks.file(), element.line(), number,
         element.name());
  }
  return numbers;
}

}  // namespace sidestream
