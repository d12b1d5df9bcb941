// Shares of particles in the cells of a uniform grid, and their exact sums.
#pragma once

#include <array>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/data/particle_shares.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"

namespace sidestream {

/// Name as in the option `method`: ngp, cic, tsc.
[[nodiscard]] std::string name_of(Assignment assignment);

/// Particles and the grid on which they are deposited.
struct DepositQuery {
  std::string mesh{};
  std::optional<Variable> weight{};  ///< without it particles are counted
  int component = 0, dimensions = 3;
  std::int32_t coordinates = -1;
  Assignment assignment = Assignment::cloud;
  bool periodic = false;
  std::vector<Index> size{};  ///< of three axes, like the corners
  std::vector<double> low{}, high{};

  [[nodiscard]] GridShape shape() const;
  [[nodiscard]] double width(std::size_t a) const { return (high[a] - low[a]) / static_cast<double>(size[a]); }
  [[nodiscard]] double volume() const;  ///< volume of a cell
};

/// Options `mesh`, `weight`, `component`, `size`, `low`, `high` and `method`; `text` is appended to the text of
/// `method`.
[[nodiscard]] OptionTable<DepositQuery> deposit_grid_options(const std::string& text);

/// Adds up shares of particles exactly. Each share is rounded once.
class Depositor {
 public:
  Depositor(const DepositQuery& query, const GridShape& grid) : query_(query), sums_(grid, 1) { terms_.reserve(8); }

  /// Adds all counted particles of the blocks; skips those whose weight was not delivered.
  void add(const LocalInput& input);
  void add(const std::array<double, 3>& x, double weight);
  /// The sums, for rows_of.
  [[nodiscard]] Bytes take();

  std::int64_t inside = 0, outside = 0;
  ExactSum weights, squares;  ///< sums over the particles inside of their weights, and of the squares of their weights

 private:
  /// One particle's share of a cell.
  struct Term {
    Index cell;
    double value;
  };
  void flush();

  const DepositQuery& query_;
  GridSums sums_;
  std::vector<Term> terms_;
};

}  // namespace sidestream
