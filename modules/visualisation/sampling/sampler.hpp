// Values of variables at places, for every kind of mesh that fills space.
#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"
#include "sidestream/kit/mesh/cell_choice.hpp"
#include "visualisation/mesh/sample_points.hpp"

namespace sidestream::sampling {

/// Values that are sampled at each place: all components of these variables, which lie on one mesh.
struct Query {
  std::vector<std::int32_t> variables;
  bool linear_nodes = true;   ///< interpolate between nodes; otherwise take the nearest node's value
  bool linear_cells = false;  ///< interpolate between cell centres, on meshes with axes; otherwise take the cell's own
                              ///< value
  CellChoice choice{};  ///< of levels; other levels count as if they had no values, and do not reveal what they cover
};

/// Priority of a sampled value. A place may be found several times: on several levels, on faces between cells, in
/// overlapping blocks. The least rank counts. It is independent of the division of the mesh, as far as it identifies
/// cells.
struct Rank {
  std::int64_t coarseness = 0;  ///< finer levels have smaller values
  std::int64_t first = 0, second = 0;
  auto operator<=>(const Rank&) const noexcept = default;
};

/// Receives a target, the rank and the values: all components of each variable.
using Sink = std::function<void(std::int64_t target, const Rank&, std::span<const double> values)>;

/// The options `variables`, and `levels` of their mesh. Reading them throws Error(configuration), for example if a
/// variable cannot be sampled, or if they lie on several meshes.
[[nodiscard]] OptionField<Query> variables_option();
[[nodiscard]] OptionField<Query> levels_option();
/// Throws Error(configuration) if a variable that `option` names cannot be sampled between the mesh's points.
void check_variable(const Settings& settings, const std::string& option, const Variable& variable,
                    const Metadata& metadata);
/// Throws Error(configuration) if the mesh does not support the query; `option` is the one that requests linear_cells.
void check_query(const Settings& settings, const std::string& option, const Query& query, const Metadata& metadata);

/// A place that is an option's value. Throws Error(configuration) unless it has a finite number for each dimension.
[[nodiscard]] Place read_place(const Settings& settings, const std::string& option, int dimensions);
/// The `n`-th of `count` places at equal distances from one end to the other.
[[nodiscard]] Place place_between(const Place& from, const Place& to, std::int64_t n, std::int64_t count);

/// The blocks that contain targets, with the layers needed around them.
[[nodiscard]] Selection selection_of(const Query& query, const Metadata& metadata,
                                     const std::shared_ptr<const SamplePoints>& targets);

/// Number of values for each target.
[[nodiscard]] std::size_t value_count(const Query& query, const Metadata& metadata);

/// Samples the targets in this server's blocks. Values that were not delivered are NaN. Returns the number of cells of
/// unknown types, which were not searched, that may contain targets.
std::int64_t sample(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink);

}  // namespace sidestream::sampling
