#include "cosmology/halos/finder/labels.hpp"

#include <algorithm>
#include <map>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"

namespace sidestream::halos {
namespace {

/// Axes of the mesh, slowest first, as in other data sets on grids.
GridShape shape_of(const Lattice& lattice) {
  std::vector<Index> extents;
  for (auto a = static_cast<std::size_t>(lattice.dimensions); a-- > 0;) extents.push_back(lattice.size[a]);
  return GridShape(std::move(extents));
}

/// Sends parts of runs to the servers that have their planes.
std::vector<NumberedPiece<Run>> by_row(const std::vector<NumberedPiece<Run>>& runs, const GridShape& grid,
                                       const Lattice& lattice, Communicator& servers) {
  const auto slowest = static_cast<std::size_t>(lattice.dimensions) - 1;
  std::map<int, std::vector<NumberedPiece<Run>>> to;
  for (const NumberedPiece<Run>& one : runs) {
    if (lattice.along != slowest) {
      to[grid.owner(lattice.cell_in(one.piece.row, 0)[slowest], servers.size())].push_back(one);
      continue;
    }
    for (NumberedPiece<Run> rest = one;
         rest.piece.first <= one.piece.last;) {  // split where planes of other servers begin
      const int server = grid.owner(rest.piece.first, servers.size());
      const Index next = grid.first_row(server + 1, servers.size());
      rest.piece.last = static_cast<std::int32_t>(std::min<Index>(one.piece.last, next - 1));
      to[server].push_back(rest);
      rest.piece.first = rest.piece.last + 1;
    }
  }
  return exchanged(to, servers);
}

/// Positions of cells along an axis, on the first server.
DataSet::Array positions(const Field& field, std::size_t axis, bool mine) {
  const Index n = field.lattice.size[axis];
  const std::string name(1, "xyz"[axis]);
  DataSet::Array array{name, Type::float64, {name}, {n}, {0}, {mine ? n : 0}, {}, {}, {}};
  std::vector<double> values;
  for (Index cell = 0; mine && cell < n; ++cell) values.push_back(field.position(axis, cell, 0));
  array.values = bytes_of(values);
  return array;
}

}  // namespace

OptionTable<LabelQuery> label_options() {
  return {file_option(&LabelQuery::file, "halo-labels-{index:05}.h5", "The data set."),
          pieces_option(&LabelQuery::pieces)};
}

void write_labels(const LabelQuery& query, const Field& field, const std::vector<NumberedPiece<Run>>& runs,
                  const CombineInput& input) {
  const Lattice& lattice = field.lattice;
  const GridShape grid = shape_of(lattice);
  Communicator& servers = input.communicator;
  const Index first = grid.first_row(servers.rank(), servers.size());
  const Index rows = grid.first_row(servers.rank() + 1, servers.size()) - first;
  std::vector<std::int32_t> labels(static_cast<std::size_t>(rows * grid.row_cells()), -1);
  const auto slowest = static_cast<std::size_t>(lattice.dimensions) - 1;
  for (const NumberedPiece<Run>& one : by_row(runs, grid, lattice, servers)) {
    Index3 cell = lattice.cell_in(one.piece.row, one.piece.first);
    for (; cell[lattice.along] <= one.piece.last; ++cell[lattice.along]) {
      Index3 at = cell;
      at[slowest] -= first;
      labels[static_cast<std::size_t>(at[0] + lattice.size[0] * (at[1] + lattice.size[1] * at[2]))] =
          static_cast<std::int32_t>(one.halo);
    }
  }
  DataSet data;
  DataSet::Array array{"halo", Type::int32, {}, grid.extents()};
  for (auto a = static_cast<std::size_t>(lattice.dimensions); a-- > 0;) array.axes.emplace_back(1, "xyz"[a]);
  array.start.assign(array.axes.size(), 0);
  array.size = grid.extents();
  array.start[0] = first;
  array.size[0] = rows;
  array.values = bytes_of(labels);
  std::vector<std::int32_t>().swap(labels);
  data.arrays.push_back(std::move(array));
  for (std::size_t a = 0; a <= slowest; ++a) data.arrays.push_back(positions(field, a, servers.rank() == 0));
  input.results.add_parts(query.file, data, servers, query.pieces);
}

}  // namespace sidestream::halos
