#include "storage/result_bytes.hpp"

#include "base/fail.hpp"

namespace sidestream {

namespace {

template <class... Types>
void put_variant(ByteSink& sink, const std::variant<Types...>& value) {
  sink.put(value.index());
  std::visit([&](const auto& held) { sink.put(held); }, value);
}

template <class Variant, std::size_t n = 0>
void get_as(ByteSource& source, Variant& value, std::size_t index) {
  if constexpr (n < std::variant_size_v<Variant>) {
    if (index != n) return get_as<Variant, n + 1>(source, value, index);
    source.get(value.template emplace<n>());
  } else {
    fail(Code::internal, "a message names the type {} of a value, of which there are {}", index, n);
  }
}

template <class Variant>
void get_variant(ByteSource& source, Variant& value) {
  std::size_t index = 0;
  source.get(index);
  get_as(source, value, index);
}

void put_attributes(ByteSink& sink, const std::vector<DataSet::Attribute>& attributes) {
  sink.put(attributes.size());
  for (const DataSet::Attribute& attribute : attributes) {
    sink.put(attribute.name);
    put_variant(sink, attribute.value);
  }
}

void get_attributes(ByteSource& source, std::vector<DataSet::Attribute>& attributes) {
  std::size_t count = 0;
  source.get(count);
  for (std::size_t n = 0; n < count; ++n) {
    DataSet::Attribute& attribute = attributes.emplace_back();
    source.get(attribute.name);
    get_variant(source, attribute.value);
  }
}

}  // namespace

void put(ByteSink& sink, const Table& table) {
  sink.put(table.columns().size());
  for (const Column& column : table.columns()) {
    sink.put(column.name);
    put_variant(sink, column.values);
  }
}

void get(ByteSource& source, Table& table) {
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

void put(ByteSink& sink, const Surface& surface) {
  sink.put(surface.points);
  sink.put(surface.triangles);
  sink.put(surface.lines);
  sink.put(surface.point_data.size());
  for (const Surface::Array& array : surface.point_data) {
    sink.put(array.name);
    sink.put(array.components);
    sink.put(array.values);
  }
}

void get(ByteSource& source, Surface& surface) {
  source.get(surface.points);
  source.get(surface.triangles);
  source.get(surface.lines);
  std::size_t count = 0;
  source.get(count);
  for (std::size_t n = 0; n < count; ++n) {
    Surface::Array& array = surface.point_data.emplace_back();
    source.get(array.name);
    source.get(array.components);
    source.get(array.values);
  }
}

void put(ByteSink& sink, const DataSet& data) {
  put_attributes(sink, data.attributes);
  sink.put(data.arrays.size());
  for (const DataSet::Array& array : data.arrays) {
    sink.put(array.name);
    sink.put(array.type);
    sink.put(array.axes);
    sink.put(array.extents);
    sink.put(array.start);
    sink.put(array.size);
    sink.put(array.unit);
    put_attributes(sink, array.attributes);
    sink.put(array.values);
  }
}

void get(ByteSource& source, DataSet& data) {
  get_attributes(source, data.attributes);
  std::size_t count = 0;
  source.get(count);
  for (std::size_t n = 0; n < count; ++n) {
    DataSet::Array& array = data.arrays.emplace_back();
    source.get(array.name);
    source.get(array.type);
    source.get(array.axes);
    source.get(array.extents);
    source.get(array.start);
    source.get(array.size);
    source.get(array.unit);
    get_attributes(source, array.attributes);
    source.get(array.values);
  }
}

Bytes packed(const DataSet& data) {
  ByteSink sink;
  put(sink, data);
  return sink.take();
}

DataSet unpacked_data(BytesView bytes) {
  ByteSource source(bytes);
  DataSet data;
  get(source, data);
  return data;
}

}  // namespace sidestream
