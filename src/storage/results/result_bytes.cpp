#include "storage/results/result_bytes.hpp"

#include <string_view>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

void check_text(const std::string& file, std::string_view what, std::string_view text) {
  if (!first_invalid_utf8(text)) return;
  fail(Code::analysis, "found {} '{}' of the result for '{}', which is not UTF-8, expected UTF-8 text; convert it",
       what, escaped_utf8(text), file);
}

void check_attributes(const std::string& file, const std::vector<DataSet::Attribute>& attributes) {
  for (const DataSet::Attribute& attribute : attributes) {
    check_text(file, "the name of an attribute", attribute.name);
    if (const auto* text = std::get_if<std::string>(&attribute.value)) check_text(file, "the attribute", *text);
  }
}

}  // namespace

void check_texts(const std::string& file, const Table& table) {
  for (const Column& column : table.columns()) {
    check_text(file, "the column", column.name);
    const auto* const texts = std::get_if<std::vector<std::string>>(&column.values);
    if (!texts) continue;
    for (const std::string& text : *texts) check_text(file, "the text", text);
  }
}

void check_texts(const std::string& file, const DataSet& data) {
  check_attributes(file, data.attributes);
  for (const DataSet::Array& array : data.arrays) {
    check_text(file, "the array", array.name);
    check_text(file, "the unit", array.unit);
    for (const std::string& axis : array.axes) check_text(file, "the axis", axis);
    check_attributes(file, array.attributes);
  }
}

void check_texts(const std::string& file, const std::vector<Surface::Array>& arrays) {
  for (const Surface::Array& array : arrays) check_text(file, "the array", array.name);
}

}  // namespace sidestream
