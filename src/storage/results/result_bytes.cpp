#include "storage/results/result_bytes.hpp"

#include <string_view>
#include <tuple>

#include "base/text.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

template <class... Types>
void put_variant(ByteWriter& sink, const std::variant<Types...>& value) {
  sink.put(value.index());
  std::visit([&](const auto& held) { sink.put(held); }, value);
}

template <class Variant, std::size_t n = 0>
void get_as(ByteReader& source, Variant& value, std::size_t index) {
  if constexpr (n < std::variant_size_v<Variant>) {
    if (index != n) return get_as<Variant, n + 1>(source, value, index);
    source.get(value.template emplace<n>());
  } else {
    fail(Code::internal, "a message names the type {} of a value, of which there are {}", index, n);
  }
}

template <class Variant>
void get_variant(ByteReader& source, Variant& value) {
  std::size_t index = 0;
  source.get(index);
  get_as(source, value, index);
}

void put_attributes(ByteWriter& sink, const std::vector<DataSet::Attribute>& attributes) {
  sink.put(attributes.size());
  for (const DataSet::Attribute& attribute : attributes) {
    sink.put(attribute.name);
    put_variant(sink, attribute.value);
  }
}

void get_attributes(ByteReader& source, std::vector<DataSet::Attribute>& attributes) {
  std::size_t count = 0;
  source.get(count);
  for (std::size_t n = 0; n < count; ++n) {
    DataSet::Attribute& attribute = attributes.emplace_back();
    source.get(attribute.name);
    get_variant(source, attribute.value);
  }
}

/// The members of an array, in the order in which both ends encode them.
auto members_of(auto& array) requires requires { array.extents; }
{
  return std::tie(array.name, array.type, array.axes, array.extents, array.start, array.size, array.unit, array.values);
}
auto members_of(auto& array) { return std::tie(array.name, array.components, array.values, array.type); }

void put_members(ByteWriter& sink, const auto& array) {
  std::apply([&](const auto&... member) { (sink.put(member), ...); }, members_of(array));
}

void get_members(ByteReader& source, auto& array) {
  std::apply([&](auto&... member) { (source.get(member), ...); }, members_of(array));
}

void put_arrays(ByteWriter& sink, const std::vector<Surface::Array>& arrays) {
  sink.put(arrays.size());
  for (const Surface::Array& array : arrays) put_members(sink, array);
}

void get_arrays(ByteReader& source, std::vector<Surface::Array>& arrays) {
  std::size_t count = 0;
  source.get(count);
  for (std::size_t n = 0; n < count; ++n) get_members(source, arrays.emplace_back());
}

}  // namespace

void put(ByteWriter& sink, const Table& table) {
  sink.put(table.columns().size());
  for (const Column& column : table.columns()) {
    sink.put(column.name);
    put_variant(sink, column.values);
  }
}

void get(ByteReader& source, Table& table) {
  std::size_t count = 0;
  source.get(count);
  std::vector<Column> columns;
  for (std::size_t n = 0; n < count; ++n) {
    Column& column = columns.emplace_back();
    source.get(column.name);
    get_variant(source, column.values);
  }
  table = Table(std::move(columns));
}

void put(ByteWriter& sink, const Surface& surface) {
  sink.put(surface.points);
  sink.put(surface.triangles);
  sink.put(surface.lines);
  sink.put(surface.coordinates);
  put_arrays(sink, surface.point_data);
}

void get(ByteReader& source, Surface& surface) {
  source.get(surface.points);
  source.get(surface.triangles);
  source.get(surface.lines);
  source.get(surface.coordinates);
  get_arrays(source, surface.point_data);
}

void put(ByteWriter& sink, const CellSet& cells) {
  sink.put(cells.points);
  sink.put(cells.types);
  for (const auto* numbers : {&cells.ends, &cells.links, &cells.faces, &cells.face_ends}) sink.put(*numbers);
  put_arrays(sink, cells.point_data);
  put_arrays(sink, cells.cell_data);
}

void get(ByteReader& source, CellSet& cells) {
  source.get(cells.points);
  source.get(cells.types);
  for (auto* numbers : {&cells.ends, &cells.links, &cells.faces, &cells.face_ends}) source.get(*numbers);
  get_arrays(source, cells.point_data);
  get_arrays(source, cells.cell_data);
}

void put(ByteWriter& sink, const DataSet& data) {
  put_attributes(sink, data.attributes);
  sink.put(data.arrays.size());
  for (const DataSet::Array& array : data.arrays) {
    put_members(sink, array);
    put_attributes(sink, array.attributes);
  }
}

void get(ByteReader& source, DataSet& data) {
  get_attributes(source, data.attributes);
  std::size_t count = 0;
  source.get(count);
  for (std::size_t n = 0; n < count; ++n) {
    DataSet::Array& array = data.arrays.emplace_back();
    get_members(source, array);
    get_attributes(source, array.attributes);
  }
}

Bytes packed(const DataSet& data) {
  ByteWriter sink;
  put(sink, data);
  return sink.take();
}

DataSet unpacked_data(BytesView bytes) {
  ByteReader source(bytes);
  DataSet data;
  get(source, data);
  return data;
}

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
