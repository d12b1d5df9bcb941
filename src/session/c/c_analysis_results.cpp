// Results of analyses written in C.
#include <string>
#include <vector>

#include "base/mpi/agree.hpp"
#include "session/c/c_session.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

template <class T>
std::vector<T> copied(const void* values, std::int64_t count) {
  const T* first = static_cast<const T*>(values);
  return count > 0 ? std::vector<T>(first, first + count) : std::vector<T>();
}

ColumnValues values_of(const sidestream_column& column, std::int64_t rows) {
  if (column.type == SIDESTREAM_COLUMN_INT) return copied<std::int64_t>(column.values, rows);
  if (column.type == SIDESTREAM_COLUMN_REAL) return copied<double>(column.values, rows);
  const char* const* texts = static_cast<const char* const*>(column.values);
  std::vector<std::string> values;
  for (std::int64_t row = 0; row < rows; ++row) values.emplace_back(texts[row]);
  return values;
}

Table table_of(const char* file, int columns, const sidestream_column* column, std::int64_t rows) {
  if (!file || columns < 1 || !column || rows < 0) {
    fail(Code::usage, "add_table: an argument is NULL, or there are no columns or fewer than 0 rows");
  }
  std::vector<Column> made;
  for (int c = 0; c < columns; ++c) {
    const sidestream_column& one = column[c];
    if (!one.name || (!one.values && rows > 0) || one.type < 0 || one.type > SIDESTREAM_COLUMN_TEXT) {
      fail(Code::usage, "add_table: column {} has no name, no values or an unknown type", c);
    }
    made.push_back({one.name, values_of(one, rows)});
  }
  return Table(std::move(made));
}

Surface surface_of(const char* file, std::int64_t point_count, const double* points, std::int64_t triangle_count,
                   const std::int64_t* triangles, int arrays, const sidestream_column* array) {
  const bool complete = (points || point_count == 0) && (triangles || triangle_count == 0) && (array || arrays == 0);
  if (!file || point_count < 0 || triangle_count < 0 || arrays < 0 || !complete) {
    fail(Code::usage, "add_surface: an argument is NULL, or a count is below 0");
  }
  Surface surface;
  for (std::int64_t n = 0; n < point_count; ++n) {
    surface.points.push_back({points[3 * n], points[3 * n + 1], points[3 * n + 2]});
  }
  for (std::int64_t n = 0; n < 3 * triangle_count; ++n) {
    if (triangles[n] < 0 || triangles[n] >= point_count) {
      fail(Code::usage, "add_surface: triangle {} has the corner {}, expected points from 0 to {}", n / 3, triangles[n],
           point_count - 1);
    }
    if (n % 3 == 2) surface.triangles.push_back({triangles[n - 2], triangles[n - 1], triangles[n]});
  }
  for (int n = 0; n < arrays; ++n) {
    if (!array[n].name || array[n].type != SIDESTREAM_COLUMN_REAL || (!array[n].values && point_count > 0)) {
      fail(Code::usage, "add_surface: array {} has no name, no values or is not of reals", n);
    }
    surface.point_data.push_back({array[n].name, 1, copied<double>(array[n].values, point_count)});
  }
  return surface;
}

DataSet::Attribute attribute_of(const sidestream_attribute& attribute) {
  if (!attribute.name || (attribute.type == SIDESTREAM_COLUMN_TEXT && !attribute.text)) {
    fail(Code::usage, "add_data: an attribute has no name or no text");
  }
  if (attribute.type == SIDESTREAM_COLUMN_INT) return {attribute.name, attribute.whole};
  if (attribute.type == SIDESTREAM_COLUMN_REAL) return {attribute.name, attribute.real};
  return {attribute.name, std::string(attribute.text)};
}

DataSet::Array array_of(const sidestream_array& array) {
  if (!array.name || array.type < 0 || array.type >= type_count || array.dimensions < 1 || !array.axes ||
      !array.extents || (array.attributes > 0 && !array.attribute)) {
    fail(Code::usage, "add_data: an array has no name, axes or extents, or an unknown type");
  }
  DataSet::Array made;
  made.name = array.name;
  made.type = static_cast<Type>(array.type);
  for (int a = 0; a < array.dimensions; ++a) {
    if (!array.axes[a]) fail(Code::usage, "add_data: axis {} of the array '{}' has no name", a, made.name);
    made.axes.emplace_back(array.axes[a]);
  }
  made.extents = copied<std::int64_t>(array.extents, array.dimensions);
  if (array.start) made.start = copied<std::int64_t>(array.start, array.dimensions);
  if (array.size) made.size = copied<std::int64_t>(array.size, array.dimensions);
  if (array.unit) made.unit = array.unit;
  for (int n = 0; n < array.attributes; ++n) made.attributes.push_back(attribute_of(array.attribute[n]));
  std::int64_t bytes = static_cast<std::int64_t>(size_of(made.type));
  for (const std::int64_t extent : array.size ? made.size : made.extents) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      fail(Code::usage, "add_data: the array '{}' has an extent of {} on an axis", made.name, extent);
    }
  }
  if (!array.values && bytes > 0) fail(Code::usage, "add_data: the array '{}' has no values", made.name);
  made.values = copied<std::byte>(array.values, bytes);
  return made;
}

DataSet data_of(const char* file, int arrays, const sidestream_array* array) {
  if (!file || arrays < 1 || !array) fail(Code::usage, "add_data: an argument is NULL, or there are no arrays");
  constexpr std::size_t least = offsetof(sidestream_array, attribute) + sizeof(array->attribute);
  if (array->struct_size < least) {
    fail(Code::usage,
         "add_data: the first array has struct_size {}, expected at least {}; set it to "
         "sizeof(sidestream_array)",
         array->struct_size, least);
  }
  DataSet data;
  const auto* at = reinterpret_cast<const std::byte*>(array);
  for (int n = 0; n < arrays; ++n, at += array->struct_size) {
    data.arrays.push_back(array_of(taken<sidestream_array>(at, array->struct_size)));
  }
  return data;
}

/// Adds the result of `make`.
template <class Make>
int add(sidestream_results* results, const char* file, Make make) noexcept {
  if (!results) return SIDESTREAM_ERROR_USAGE;
  return shielded(&results->problem, [&]() -> int {
    results->results->add(file, make());
    return SIDESTREAM_OK;
  });
}

/// Adds the servers' parts of a result of `make`. Collective: all fail if one does.
template <class Make>
int add_part(sidestream_results* results, const char* file, sidestream_pieces pieces, Make make) noexcept {
  if (!results) return SIDESTREAM_ERROR_USAGE;
  return shielded(&results->problem, [&]() -> int {
    decltype(make()) part;
    run_collectively(*results->servers, [&] { part = make(); });
    results->results->add_parts(file, part, *results->servers, static_cast<Pieces>(pieces));
    return SIDESTREAM_OK;
  });
}

}  // namespace

}  // namespace sidestream

extern "C" {

using namespace sidestream;

int sidestream_add_table(sidestream_results* results, const char* file, int columns, const sidestream_column* column,
                         int64_t rows) {
  return add(results, file, [&] { return table_of(file, columns, column, rows); });
}

int sidestream_add_table_part(sidestream_results* results, const char* file, int columns,
                              const sidestream_column* column, int64_t rows, sidestream_pieces pieces) {
  return add_part(results, file, pieces, [&] { return table_of(file, columns, column, rows); });
}

int sidestream_add_image(sidestream_results* results, const char* file, int width, int height, const uint8_t* rgba) {
  return add(results, file, [&] {
    if (!file || width < 1 || height < 1 || !rgba) {
      fail(Code::usage, "add_image: an argument is NULL, or the picture has no pixels");
    }
    const auto bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4;
    return Image{width, height, {rgba, rgba + bytes}};
  });
}

int sidestream_add_surface(sidestream_results* results, const char* file, int64_t point_count, const double* points,
                           int64_t triangle_count, const int64_t* triangles, int arrays,
                           const sidestream_column* array) {
  return add(results, file,
             [&] { return surface_of(file, point_count, points, triangle_count, triangles, arrays, array); });
}

int sidestream_add_surface_part(sidestream_results* results, const char* file, int64_t point_count,
                                const double* points, int64_t triangle_count, const int64_t* triangles, int arrays,
                                const sidestream_column* array, sidestream_pieces pieces) {
  return add_part(results, file, pieces,
                  [&] { return surface_of(file, point_count, points, triangle_count, triangles, arrays, array); });
}

int sidestream_add_data(sidestream_results* results, const char* file, int arrays, const sidestream_array* array) {
  return add(results, file, [&] { return data_of(file, arrays, array); });
}

int sidestream_add_data_part(sidestream_results* results, const char* file, int arrays, const sidestream_array* array,
                             sidestream_pieces pieces) {
  return add_part(results, file, pieces, [&] { return data_of(file, arrays, array); });
}

}  // extern "C"
