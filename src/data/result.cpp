#include "sidestream/data/result.hpp"

#include <utility>

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

}  // namespace sidestream
