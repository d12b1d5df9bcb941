// Values of variables at places: of every kind of mesh that fills space.
#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mesh/cell_choice.hpp"
#include "mesh/sample_points.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::sampling {

/// What is taken from the mesh at each place: all components of these variables, which lie on one mesh.
struct Query {
  std::vector<std::int32_t> variables;
  bool linear_nodes = true;   ///< between nodes; otherwise the value of the nearest
  bool linear_cells = false;  ///< between cell centres, of meshes with axes; otherwise the cell's own value
  CellChoice choice{};        ///< of levels: others are as if they had no values, and do not show what they cover
};

/// A place may be found several times: on several levels, on the border of cells, in blocks that overlap. The least
/// rank counts, the same however the mesh is divided as far as it says which cell is which.
struct Rank {
  std::int64_t coarseness = 0;  ///< less is finer
  std::int64_t first = 0, second = 0;
  auto operator<=>(const Rank&) const noexcept = default;
};

/// Gets a target, the rank and the values: of each variable its components.
using Sink = std::function<void(std::int64_t target, const Rank&, std::span<const double> values)>;

/// Throws Error(configuration) if values of the variables that `option` lists can't be had at places between the mesh's
/// points.
[[nodiscard]] std::vector<std::int32_t> read_variables(const Settings& settings, const std::string& option,
                                                       const Metadata& metadata);
/// Throws Error(configuration) if the query is none of the mesh's kind; `option` is the one that asks for linear_cells.
void check_query(const Settings& settings, const std::string& option, const Query& query, const Metadata& metadata);

/// The option `levels`, which read_choice_of_levels reads.
[[nodiscard]] Option levels_option();

/// The blocks in which there are targets, and what is needed around them.
[[nodiscard]] Selection selection_of(const Query& query, const Metadata& metadata,
                                     const std::shared_ptr<const SamplePoints>& targets);

/// How many values a target gets.
[[nodiscard]] std::size_t value_count(const Query& query, const Metadata& metadata);

/// Finds the targets in this server's blocks. Where a value was not delivered it is NaN. Returns in how many cells
/// targets may lie that were not looked into, of types that are not known.
std::int64_t sample(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink);

}  // namespace sidestream::sampling
