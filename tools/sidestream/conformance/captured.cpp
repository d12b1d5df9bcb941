#include "conformance/captured.hpp"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>

namespace sidestream::conformance {

namespace {

template <class T>
void append(Bytes& bytes, const T* data, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* at = reinterpret_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), at, at + count * sizeof(T));
}

void append(Bytes& bytes, const std::string& text) {
  const std::uint64_t size = text.size();
  append(bytes, &size, 1);
  append(bytes, text.data(), text.size());
}

void append(Bytes& bytes, const Table& table) {
  for (const Column& column : table.columns()) {
    append(bytes, column.name);
    std::visit(
        [&](const auto& values) {
          if constexpr (std::is_same_v<typename std::decay_t<decltype(values)>::value_type, std::string>) {
            for (const std::string& text : values) append(bytes, text);
          } else {
            append(bytes, values.data(), values.size());
          }
        },
        column.values);
  }
}

/// Numeric value of a cell, or nothing for a text.
std::optional<double> number(const Table::Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::nullopt;
}

bool close(const Table::Cell& a, const Table::Cell& b, double tolerance) {
  const auto x = number(a), y = number(b);
  if (!x || !y) return a == b;
  if (std::isnan(*x) || std::isnan(*y) || *x == *y) return std::isnan(*x) == std::isnan(*y);
  return std::abs(*x - *y) <= tolerance * std::max(std::abs(*x), std::abs(*y));
}

bool close(const Table& a, const Table& b, double tolerance) {
  if (a.names() != b.names() || a.rows() != b.rows()) return false;
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.columns().size(); ++c) {
      if (!close(a.at(r, c), b.at(r, c), tolerance)) return false;
    }
  }
  return true;
}

}  // namespace

void Captured::add(const std::string& file, const Table& table) {
  append(bytes_[file], table);
  tables_[file] = table;
}

void Captured::add(const std::string& file, const Image& image) {
  Bytes& bytes = bytes_[file];
  append(bytes, &image.width, 1);
  append(bytes, &image.height, 1);
  append(bytes, image.rgba.data(), image.rgba.size());
}

void Captured::add(const std::string& file, const Surface& surface) {
  Bytes& bytes = bytes_[file];
  append(bytes, surface.points.data(), surface.points.size());
  append(bytes, surface.triangles.data(), surface.triangles.size());
  append(bytes, surface.lines.data(), surface.lines.size());
  for (const Surface::Array& array : surface.point_data) {
    append(bytes, array.name);
    append(bytes, array.values.data(), array.values.size());
  }
}

void Captured::add(const std::string& file, const CellSet& cells) {
  Bytes& bytes = bytes_[file];
  append(bytes, cells.points.data(), cells.points.size());
  append(bytes, cells.types.data(), cells.types.size());
  for (const auto* numbers : {&cells.ends, &cells.links, &cells.faces, &cells.face_ends}) {
    append(bytes, numbers->data(), numbers->size());
  }
  for (const auto* arrays : {&cells.point_data, &cells.cell_data}) {
    for (const Surface::Array& array : *arrays) {
      append(bytes, array.name);
      append(bytes, array.values.data(), array.values.size());
    }
  }
}

void Captured::add(const std::string& file, const DataSet& data) {
  Bytes& bytes = bytes_[file];
  for (const DataSet::Array& array : data.arrays) {
    append(bytes, array.name);
    append(bytes, array.extents.data(), array.extents.size());
    append(bytes, array.values.data(), array.values.size());
  }
}

std::string Captured::difference(const Captured& other, double tolerance) const {
  for (const auto& [file, bytes] : other.bytes_) {
    if (!bytes_.contains(file)) return fmt::format("the result '{}' came besides", file);
  }
  for (const auto& [file, bytes] : bytes_) {
    const auto found = other.bytes_.find(file);
    if (found == other.bytes_.end()) return fmt::format("the result '{}' did not come", file);
    if (found->second == bytes) continue;
    const auto mine = tables_.find(file), its = other.tables_.find(file);
    const bool tables = mine != tables_.end() && its != other.tables_.end();
    if (tolerance > 0 && (!tables || close(mine->second, its->second, tolerance))) continue;
    return fmt::format("the result '{}' has other {}", file,
                       tolerance > 0 ? fmt::format("numbers, by more than the tolerance {}", tolerance) : "bytes");
  }
  return {};
}

}  // namespace sidestream::conformance
