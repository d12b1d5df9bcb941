// An XML file that is read to its last attribute: what nobody asks for is remarked.
#pragma once

#include <tinyxml2.h>

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sidestream {

/// What is said of lines of a file.
class Remarks {
 public:
  explicit Remarks(std::string file) : file_(std::move(file)) {}
  void add(int line, const std::string& text);
  /// A line for each text, in the order of the first lines.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

 private:
  std::string file_;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<int>> lines_;
};

/// `simulation` of `damaris:simulation`.
[[nodiscard]] std::string local_name(const std::string& name);

/// One element, while it is translated. When it goes, its attributes and children that were not asked for are remarked.
class XmlElement {
 public:
  XmlElement(const tinyxml2::XMLElement& xml, Remarks& remarks) : xml_(xml), remarks_(remarks) {}
  XmlElement(const XmlElement&) = delete;
  XmlElement& operator=(const XmlElement&) = delete;
  ~XmlElement();

  /// Without a prefix of its namespace.
  [[nodiscard]] std::string name() const { return local_name(xml_.Name()); }
  [[nodiscard]] int line() const { return xml_.GetLineNum(); }
  [[nodiscard]] bool has(const char* attribute) const { return xml_.Attribute(attribute) != nullptr; }
  /// An attribute without surrounding blanks, or `otherwise` if it is missing.
  [[nodiscard]] std::string get(const char* attribute, const std::string& otherwise = "");
  /// As `get`; throws Error(file) if it is missing or empty.
  [[nodiscard]] std::string need(const char* attribute);
  /// Attributes that say nothing that matters here.
  void ignore(std::initializer_list<const char*> attributes);
  /// What stands between the tags, without surrounding blanks.
  [[nodiscard]] std::string text() const;
  /// `handle(XmlElement&)` for each child, in order; false: it does not know the child, which is remarked.
  template <class Handle>
  void each_child(Handle&& handle) {
    children_read_ = true;
    for (const auto* child = xml_.FirstChildElement(); child; child = child->NextSiblingElement()) {
      XmlElement element(*child, remarks_);
      if (!handle(element)) element.leave_out();
    }
  }
  /// Remarks that the whole element has no counterpart, and why if that is given.
  void leave_out(const std::string& why = "");
  /// As above, where it was remarked in other words.
  void leave_out_quietly() noexcept { left_out_ = true; }
  void remark(const std::string& text) const { remarks_.add(line(), text); }

 private:
  const tinyxml2::XMLElement& xml_;
  Remarks& remarks_;
  std::set<std::string> used_;
  bool children_read_ = false, left_out_ = false;
};

/// A whole file. Throws Error(file) if it cannot be read, is no XML, or its root has another name.
class XmlFile {
 public:
  XmlFile(const std::string& file, const std::string& root);
  [[nodiscard]] const tinyxml2::XMLElement& root() const { return *document_.RootElement(); }

 private:
  tinyxml2::XMLDocument document_;
};

/// `name` as ours may be: what is not allowed becomes `_`.
[[nodiscard]] std::string plain_name(const std::string& name);
/// The parts of a text between commas or blanks.
[[nodiscard]] std::vector<std::string> parts_of(const std::string& text, const char* separators = ",");
[[nodiscard]] std::string trimmed(const std::string& text);
/// Numbers separated by blanks or commas, as text; throws Error(file) if one is none.
[[nodiscard]] std::vector<std::string> numbers_of(const XmlElement& element, const std::string& text,
                                                  const Remarks& remarks);

}  // namespace sidestream
