// Merging of parts of components over all servers.
//
// Each server reduces its pairs of parts that touch to a spanning forest and sends it to all others. All build the same
// union-find structure (Forest), so every server knows the component of each of its parts.
#include "cosmology/halos/finder/merge_components.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"
#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {

namespace {

/// Components of parts that are named in pairs.
class Forest {
 public:
  explicit Forest(const std::vector<PartPair>& pairs) {
    for (const PartPair& pair : pairs) names_.insert(names_.end(), pair.begin(), pair.end());
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    joined_ = UnionFind<std::size_t>(names_.size());
    for (const PartPair& pair : pairs) joined_.join(place(pair[0]), place(pair[1]));
  }
  [[nodiscard]] std::vector<PartPair> pairs() {
    std::vector<PartPair> all;
    for (std::size_t n = 0; n < names_.size(); ++n) {
      const std::size_t root = joined_.find(n);
      if (root != n) all.push_back({names_[root], names_[n]});
    }
    return all;
  }
  [[nodiscard]] std::int64_t root_of(std::int64_t part) {
    const std::size_t n = place(part);
    return n < names_.size() && names_[n] == part ? names_[joined_.find(n)] : part;
  }

 private:
  [[nodiscard]] std::size_t place(std::int64_t name) const {
    return static_cast<std::size_t>(std::lower_bound(names_.begin(), names_.end(), name) - names_.begin());
  }
  std::vector<std::int64_t> names_;
  UnionFind<std::size_t> joined_;
};

}  // namespace

PartNumbers::PartNumbers(std::size_t mine, Communicator& servers)
    : rank_(static_cast<std::size_t>(servers.rank())), ends_{0} {
  for (const Bytes& bytes : servers.all_gather(bytes_of(mine))) {
    ends_.push_back(ends_.back() + static_cast<std::int64_t>(record_of<std::size_t>(bytes)));
  }
}

int PartNumbers::server_of(std::int64_t part) const noexcept {
  return static_cast<int>(std::upper_bound(ends_.begin(), ends_.end(), part) - ends_.begin()) - 1;
}

std::vector<std::int64_t> join_parts(const std::vector<PartPair>& pairs, std::size_t parts, const PartNumbers& numbers,
                                     Communicator& servers) {
  const std::vector<PartPair> mine = Forest(pairs).pairs();
  std::vector<PartPair> all;
  for (const Bytes& bytes : servers.all_gather(std::as_bytes(std::span(mine)))) {
    const auto theirs = records_of<PartPair>(bytes);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  Forest forest(all);
  std::vector<std::int64_t> roots(parts);
  for (std::size_t n = 0; n < parts; ++n) roots[n] = forest.root_of(numbers.first() + static_cast<std::int64_t>(n));
  return roots;
}

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
