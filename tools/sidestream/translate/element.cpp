#include "translate/element.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "base/fail.hpp"

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

Element::~Element() {
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

std::string Element::get(const char* attribute, const std::string& otherwise) {
  used_.insert(attribute);
  const char* value = xml_.Attribute(attribute);
  return value ? trimmed(value) : otherwise;
}

std::string Element::need(const char* attribute) {
  const std::string value = get(attribute);
  if (!value.empty()) return value;
  fail(Code::file, "{}:{}: found <{}> without '{}', which it needs; add it", remarks_.file(), line(), name(),
       attribute);
}

void Element::ignore(std::initializer_list<const char*> attributes) {
  for (const char* attribute : attributes) used_.insert(attribute);
}

std::string Element::text() const {
  const char* text = xml_.GetText();
  return text ? trimmed(text) : "";
}

void Element::leave_out(const std::string& why) {
  left_out_ = true;
  remark(fmt::format("<{}> has no counterpart and was left out{}{}", name(), why.empty() ? "" : ": ", why));
}

XmlFile::XmlFile(const std::string& file, const std::string& root) {
  if (!std::filesystem::is_regular_file(file)) {
    fail(Code::file, "the file '{}' does not exist or is no file; check the path", file);
  }
  if (document_.LoadFile(file.c_str()) != tinyxml2::XML_SUCCESS) {
    fail(Code::file, "{}:{}: found what is no XML ({}); correct it", file, std::max(1, document_.ErrorLineNum()),
         document_.ErrorName());
  }
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
  for (const char c : name) plain += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ? c : '_';
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

std::vector<std::string> numbers_of(const Element& element, const std::string& text, const Remarks& remarks) {
  std::vector<std::string> numbers = parts_of(text, ", \t\r\n");
  for (const std::string& number : numbers) {
    char* end = nullptr;
    static_cast<void>(std::strtod(number.c_str(), &end));
    if (*end == '\0') continue;
    fail(Code::file, "{}:{}: found '{}' in <{}>, expected numbers; correct it", remarks.file(), element.line(), number,
         element.name());
  }
  return numbers;
}

}  // namespace sidestream
