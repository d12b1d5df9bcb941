// Stream lines of a vector field: the query, and how lines are traced.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"
#include "visualisation/sampling/sampler.hpp"

namespace sidestream::streamlines {

using sampling::Place;

/// The lines through some places. Arc lengths are in the mesh's units.
struct Query {
  sampling::Query values;    ///< the vector field, then further variables that lines carry
  int dimensions = 3;        ///< of the mesh; the field has as many components
  double flat = 0;           ///< position of a mesh of two dimensions on the third axis
  std::vector<Place> seeds;  ///< places on the lines
  double step = 0;           ///< arc length of a step
  double length = std::numeric_limits<double>::infinity();  ///< at most, from the seed in each direction
  std::int64_t steps = 0;                                   ///< likewise, a number
  bool forwards = true, backwards = true;
};

/// The options that Query comes from. Their reader throws Error(configuration).
[[nodiscard]] std::vector<Option> line_options();
/// `carried`: further variables, which the option `name` gives.
[[nodiscard]] Query read_lines(const Settings& settings, const Metadata& metadata,
                               const std::vector<std::int32_t>& carried, const std::string& name);

[[nodiscard]] Selection selection_of(const Query& query, const Metadata& metadata);

/// A point of a line.
struct Vertex {
  std::int64_t line = 0;    ///< number of its seed
  std::int64_t number = 0;  ///< of steps from the seed, negative backwards
  Place at{};
};

/// Points of lines, with all values of the query at each.
struct Lines {
  std::vector<Vertex> vertices;
  std::vector<double> values;
  std::int64_t outside = 0;  ///< seeds in no cell
  std::int64_t unknown = 0;  ///< cells of types that cannot be searched, in which lines end
};

/// Collective: traces lines through the blocks of all servers. Rank 0 gets all points, in the order of lines and along
/// them. They are the same bits for every division of the mesh and any number of servers.
[[nodiscard]] Lines trace(const Query& query, const LocalInput& input, Communicator& servers);

/// Position of a component of a variable among the values of a point.
[[nodiscard]] std::size_t value_of(const Query& query, const Metadata& metadata, std::int32_t variable, int component);

/// Segments between neighbouring points, as numbers of points.
[[nodiscard]] std::vector<std::array<std::int64_t, 2>> segments_of(const Lines& lines);

}  // namespace sidestream::streamlines
