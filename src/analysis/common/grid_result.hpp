// Data sets on a grid: values, and where they are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reduce/grid_sums.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/results.hpp"

namespace sidestream {

/// An axis of a grid of results: its name, and where the values on it are.
struct GridAxis {
  std::string name;
  std::vector<double> positions;
};

/// A server's rows of a data set on a grid.
class GridResult {
 public:
  /// `axes`: slowest first, as many positions as the grid has entries. These become arrays of their own, which the
  /// first server has.
  GridResult(const GridShape& grid, const std::vector<GridAxis>& axes, const Communicator& servers);
  /// An array of reals of this server's rows, all of which are `value` at first. A name that another array has gets a
  /// `_`, as does that of an axis. The values stay where they are until `write`, which gives them away uncopied.
  std::span<double> add(const std::string& name, const std::string& unit, double value,
                        std::vector<DataSet::Attribute> attributes = {});
  void set(DataSet::Attribute attribute) { attributes_.push_back(std::move(attribute)); }
  [[nodiscard]] Index first_row() const noexcept { return first_; }
  [[nodiscard]] Index rows() const noexcept { return rows_; }
  /// Collective. Gives it away; all servers have added the same arrays and attributes.
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
