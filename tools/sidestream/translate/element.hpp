// An XML file that is read completely: unused attributes are remarked.
#pragma once

#include <tinyxml2.h>

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sidestream {

/// Remarks on lines of a file.
class Remarks {
 public:
  explicit Remarks(std::string file) : file_(std::move(file)) {}
  void add(int line, const std::string& text);
  /// One line per text, sorted by their first lines.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

 private:
  std::string file_;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<int>> lines_;
};

/// `simulation` in `damaris:simulation`.
[[nodiscard]] std::string local_name(const std::string& name);

/// One element during its translation. The destructor remarks unused attributes and children.
class XmlElement {
 public:
  XmlElement(const tinyxml2::XMLElement& xml, Remarks& remarks) : xml_(xml), remarks_(remarks) {}
  XmlElement(const XmlElement&) = delete;
  XmlElement& operator=(const XmlElement&) = delete;
  ~XmlElement();

  /// The name without its namespace prefix.
  [[nodiscard]] std::string name() const { return local_name(xml_.Name()); }
  [[nodiscard]] int line() const { return xml_.GetLineNum(); }
  [[nodiscard]] bool has(const char* attribute) const { return xml_.Attribute(attribute) != nullptr; }
  /// An attribute, trimmed, or `otherwise` if it is missing.
  [[nodiscard]] std::string get(const char* attribute, const std::string& otherwise = "");
  /// As `get`; throws Error(file) if it is missing or empty.
  [[nodiscard]] std::string need(const char* attribute);
  /// Marks attributes as irrelevant here.
  void ignore(std::initializer_list<const char*> attributes);
  /// The text between the tags, trimmed.
  [[nodiscard]] std::string text() const;
  /// Calls `handle(XmlElement&)` for each child, in order. It returns false for an unknown child, which is remarked.
  template <class Handle>
  void each_child(Handle&& handle) {
    children_read_ = true;
    for (const auto* child = xml_.FirstChildElement(); child; child = child->NextSiblingElement()) {
      XmlElement element(*child, remarks_);
      if (!handle(element)) element.leave_out();
    }
  }
  /// Remarks that the whole element has no counterpart, with the reason `why` unless it is empty.
  void leave_out(const std::string& why = "");
  /// As above, if it has been remarked in other words.
  void omit_silently() noexcept { left_out_ = true; }
  void remark(const std::string& text) const { remarks_.add(line(), text); }

 private:
  const tinyxml2::XMLElement& xml_;
  Remarks& remarks_;
  std::set<std::string> used_;
  bool children_read_ = false, left_out_ = false;
};

/// A whole file. Throws Error(file) if it cannot be read, is not XML, or its root has another name.
class XmlFile {
 public:
  XmlFile(const std::string& file, const std::string& root);
  [[nodiscard]] const tinyxml2::XMLElement& root() const { return *document_.RootElement(); }

 private:
  tinyxml2::XMLDocument document_;
};

/// Converts `name` to a valid one: invalid characters become `_`.
[[nodiscard]] std::string plain_name(const std::string& name);
/// The parts of a text between commas or blanks.
[[nodiscard]] std::vector<std::string> parts_of(const std::string& text, const char* separators = ",");
[[nodiscard]] std::string trimmed(const std::string& text);
/// Splits numbers separated by blanks or commas, as text; throws Error(file) if one is invalid.
[[nodiscard]] std::vector<std::string> numbers_of(const XmlElement& element, const std::string& text,
                                                  const Remarks& remarks);

}  // namespace sidestream
