#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sidestream/data/result.hpp"
#include "sidestream/data/surface_stream.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr const char* type_names[] = {"whole numbers", "real numbers", "texts"};

std::size_t length(const ColumnValues& values) {
  return std::visit([](const auto& all) { return all.size(); }, values);
}

/// An empty column of the type of a cell.
ColumnValues column_for(const Table::Cell& cell) {
  return std::visit([](const auto& value) -> ColumnValues { return std::vector<std::decay_t<decltype(value)>>{}; },
                    cell);
}

void append(Column& column, const Table::Cell& cell) {
  if (column.values.index() == cell.index()) {
    std::visit([&](auto& all) { all.push_back(std::get<typename std::decay_t<decltype(all)>::value_type>(cell)); },
               column.values);
    return;
  }
  std::get<std::vector<double>>(column.values).push_back(static_cast<double>(std::get<std::int64_t>(cell)));
}

void check_fits(const Column& column, const Table::Cell& cell) {
  const bool whole_among_reals =
      std::holds_alternative<std::vector<double>>(column.values) && std::holds_alternative<std::int64_t>(cell);
  if (column.values.index() == cell.index() || whole_among_reals) return;
  fail(Code::analysis, "the column '{}' of a table has {}, but a row has {} there; give all rows the same type",
       column.name, type_names[column.values.index()], type_names[cell.index()]);
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  if (!columns_.empty()) rows_ = length(columns_.front().values);
  for (const Column& column : columns_) {
    if (length(column.values) == rows_) continue;
    fail(Code::analysis,
         "the column '{}' of a table has {} values, but the column '{}' has {}; give all the same length", column.name,
         length(column.values), columns_.front().name, rows_);
  }
}

Table::Table(const std::vector<std::string>& names, const std::vector<std::vector<Cell>>& rows) {
  for (const std::string& name : names) columns_.push_back({name, {}});
  for (const std::vector<Cell>& row : rows) add_row(row);
}

void Table::add_row(const std::vector<Cell>& cells) {
  if (cells.size() != columns_.size()) {
    fail(Code::analysis, "a table has {} columns but a row of {} cells; fill every column", columns_.size(),
         cells.size());
  }
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (rows_ == 0) columns_[c].values = column_for(cells[c]);
    check_fits(columns_[c], cells[c]);
  }
  for (std::size_t c = 0; c < cells.size(); ++c) append(columns_[c], cells[c]);
  ++rows_;
}

std::vector<std::string> Table::names() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  return names;
}

Table::Cell Table::at(std::size_t row, std::size_t column) const {
  return std::visit([&](const auto& all) -> Cell { return all.at(row); }, columns_.at(column).values);
}

namespace {

constexpr std::size_t at_once = 1u << 14;  ///< number of values that are converted together

/// Gives numbers converted to another type.
template <class To, class From>
void give_as(std::span<const From> values, const SurfaceStream::Sink& sink) {
  std::vector<To> part;
  while (!values.empty()) {
    const auto now = values.first(std::min(at_once, values.size()));
    part.resize(now.size());
    std::transform(now.begin(), now.end(), part.begin(), [](From value) { return static_cast<To>(value); });
    sink(std::as_bytes(std::span<const To>(part)));
    values = values.subspan(now.size());
  }
}

void give_reals(std::span<const double> values, Type type, const SurfaceStream::Sink& sink) {
  if (type == Type::float32) return give_as<float>(values, sink);
  if (!values.empty()) sink(std::as_bytes(values));
}

void give_numbers(std::span<const std::int64_t> values, Type type, const SurfaceStream::Sink& sink) {
  if (type == Type::int32) return give_as<std::int32_t>(values, sink);
  if (!values.empty()) sink(std::as_bytes(values));
}

/// View of the values as one array. Neither std::array nor a vector of arrays has gaps between its values.
template <class T, std::size_t n>
std::span<const T> flat(const std::vector<std::array<T, n>>& values) {
  static_assert(sizeof(std::array<T, n>) == n * sizeof(T));
  return {values.empty() ? nullptr : values.front().data(), n * values.size()};
}

/// A sink that collects reals or integers of any width.
template <class T>
auto collector(T* to, Type type) {
  return [to, type](std::span<const std::byte> bytes) mutable {
    with_type(type, [&](auto zero) {
      const std::size_t count = bytes.size() / sizeof zero;
      for (std::size_t n = 0; n < count; ++n, ++to) {
        std::memcpy(&zero, bytes.data() + n * sizeof zero, sizeof zero);
        *to = static_cast<T>(zero);
      }
    });
  };
}

}  // namespace

WholeSurface::WholeSurface(const Surface& surface) : surface_(surface) {
  outline_.coordinates = surface.coordinates;
  for (const Surface::Array& array : surface.point_data) {
    outline_.point_data.push_back({array.name, array.components, {}, array.type});
  }
}

void WholeSurface::give_points(const Sink& sink) const {
  give_reals(flat(surface_.points), surface_.coordinates, sink);
}
void WholeSurface::give_triangles(const Sink& sink) const {
  give_numbers(flat(surface_.triangles), corner_type(), sink);
}
void WholeSurface::give_lines(const Sink& sink) const { give_numbers(flat(surface_.lines), corner_type(), sink); }
void WholeSurface::give_data(std::size_t array, const Sink& sink) const {
  give_reals(surface_.point_data[array].values, surface_.point_data[array].type, sink);
}

Surface collected(const SurfaceStream& stream) {
  Surface surface = stream.outline();
  surface.points.resize(stream.points());
  surface.triangles.resize(stream.triangles());
  surface.lines.resize(stream.lines());
  if (!surface.points.empty()) stream.give_points(collector(surface.points.front().data(), surface.coordinates));
  const Type corners = stream.corner_type();
  if (!surface.triangles.empty()) stream.give_triangles(collector(surface.triangles.front().data(), corners));
  if (!surface.lines.empty()) stream.give_lines(collector(surface.lines.front().data(), corners));
  for (std::size_t a = 0; a < surface.point_data.size(); ++a) {
    Surface::Array& array = surface.point_data[a];
    array.values.resize(surface.points.size() * static_cast<std::size_t>(array.components));
    stream.give_data(a, collector(array.values.data(), array.type));
  }
  return surface;
}

}  // namespace sidestream
