#include "sidestream/kit/analysis/grid_result.hpp"

#include <algorithm>

#include "sidestream/kit/base/records.hpp"

namespace sidestream {

GridResult::GridResult(const GridShape& grid, const std::vector<GridAxis>& axes, const Communicator& servers)
    : grid_(grid),
      axes_(axes),
      first_(grid.first_row(servers.rank(), servers.size())),
      rows_(grid.first_row(servers.rank() + 1, servers.size()) - first_) {}

std::span<double> GridResult::add(const std::string& name, const std::string& unit, double value,
                                  std::vector<DataSet::Attribute> attributes) {
  const auto cells = static_cast<std::size_t>(rows_ * grid_.row_cells());
  fields_.push_back({free_name(name), unit, std::move(attributes), Bytes(cells * sizeof(double))});
  const std::span values(reinterpret_cast<double*>(fields_.back().values.data()), cells);
  std::fill(values.begin(), values.end(), value);
  return values;
}

std::string GridResult::free_name(std::string name) const {
  const auto taken = [&](const Field& field) { return field.name == name; };
  while (std::any_of(fields_.begin(), fields_.end(), taken)) name += "_";
  return name;
}

void GridResult::write(const std::string& file, Pieces how, Results& results, Communicator& servers) {
  DataSet data;
  data.attributes = attributes_;
  std::vector<std::string> names;
  for (const GridAxis& axis : axes_) names.push_back(axis.name);
  for (Field& field : fields_) {
    DataSet::Array array{field.name, Type::float64, names, grid_.extents()};
    array.start.assign(names.size(), 0);
    array.size = grid_.extents();
    array.start[0] = first_;
    array.size[0] = rows_;
    array.unit = field.unit;
    array.attributes = field.attributes;
    array.values = std::move(field.values);
    data.arrays.push_back(std::move(array));
  }
  for (const GridAxis& axis : axes_) {
    const auto all = static_cast<Index>(axis.positions.size());
    const bool mine = servers.rank() == 0;
    data.arrays.push_back({free_name(axis.name), Type::float64, {axis.name}, {all}, {0}, {mine ? all : 0}, {}, {}, {}});
    if (mine) data.arrays.back().values = bytes_of(axis.positions);
  }
  results.add_parts(file, data, servers, how);
}

}  // namespace sidestream
