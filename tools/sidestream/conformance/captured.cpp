#include "conformance/captured.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sidestream::conformance {

namespace {

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

void Captured::keep(const std::string& file, const Bytes& bytes) {
  Bytes& all = bytes_[file];
  all.insert(all.end(), bytes.begin(), bytes.end());
}

void Captured::add(const std::string& file, const Table& table) {
  keep(file, packed(table));
  tables_[file] = table;
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
