// Data sets on a grid: values and their positions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sidestream/data/result.hpp"
#include "sidestream/extend/results.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"

namespace sidestream {

/// An axis of a grid of results: its name, and the positions of values along it.
struct GridAxis {
  std::string name;
  std::vector<double> positions;
};

/// A server's rows of a data set on a grid.
class GridResult {
 public:
  /// `axes`: slowest first, with as many positions as the grid has entries. They become arrays, which the first server
  /// writes.
  GridResult(const GridShape& grid, const std::vector<GridAxis>& axes, const Communicator& servers);
  /// Adds an array of reals for this server's rows, filled with `value`. A name that is already used, also by an axis,
  /// gets a suffix `_`. The values stay in place until `write`, which moves them.
  std::span<double> add(const std::string& name, const std::string& unit, double value,
                        std::vector<DataSet::Attribute> attributes = {});
  void set(DataSet::Attribute attribute) { attributes_.push_back(std::move(attribute)); }
  [[nodiscard]] Index first_row() const noexcept { return first_; }
  [[nodiscard]] Index rows() const noexcept { return rows_; }
  /// Passes the data set to the results. Collective. All servers must have added the same arrays and attributes.
  void write(const std::string& file, Pieces how, Results& results, Communicator& servers);

 private:
  struct Field {
    std::string name, unit;
    std::vector<DataSet::Attribute> attributes;
    Bytes values;  ///< doubles
  };

  [[nodiscard]] std::string free_name(std::string name) const;

  const GridShape& grid_;
  std::vector<GridAxis> axes_;
  Index first_, rows_;
  std::vector<DataSet::Attribute> attributes_;
  std::vector<Field> fields_;
};

}  // namespace sidestream
