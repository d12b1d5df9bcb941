// Cells of several levels as pieces of halos.
//
// 1. Lists the counted cells above the threshold of all blocks, and indexes them by level and index.
// 2. For each cell and each neighbouring place on its level, looks for a listed cell: at that place, or a coarser cell
//    that contains it. Union-find joins the two. Finer neighbours find the cell in the same way from their side.
// 3. If no cell is found and the place is not entirely this server's block, the cell is at the boundary: the place and
//    its ancestors are sought on other servers.
// 4. Every place is assigned to a server by its hash; boundary cells and sought places meet there (meetings).
#include "cosmology/halos/amr/amr_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "cosmology/halos/amr/neighbour_search.hpp"
#include "cosmology/halos/finder/halo_table.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"
#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {
namespace {

/// Cells of records with a member `piece`.
template <class Record>
std::vector<AmrCell> cells_of(const std::vector<Record>& records) {
  std::vector<AmrCell> cells;
  for (const Record& one : records) cells.push_back(one.piece);
  return cells;
}

/// Finds the connected sets of a server's cells, and the boundary cells.
class SetSearch {
 public:
  SetSearch(const AmrGraph& graph, const LocalInput& input, double threshold, bool keep_places)
      : search_(graph, input, threshold, keep_places), domain_(search_.domain()), joined_(domain_.cells.size()) {}

  [[nodiscard]] const AmrDomain& run() {
    search_.run([&](std::uint32_t n, std::uint32_t other) { joined_.join(n, other); },
                [&](std::uint32_t n, const AmrCell& place) {
                  domain_.boundary_cells.push_back({place, ~static_cast<std::int64_t>(n)});
                },
                [&](std::uint32_t n) {
                  domain_.boundary_cells.push_back({domain_.cells[n], n});
                });
    number_sets();
    return domain_;
  }

 private:
  /// Numbers sets by their first cells, and lists boundary cells with their sets, each once.
  void number_sets() {
    std::vector<std::uint32_t>& sets = domain_.sets_of_cells;
    sets.resize(domain_.cells.size());
    for (std::uint32_t n = 0; n < sets.size(); ++n) {
      const std::uint32_t root = joined_.find(n);
      sets[n] = root == n ? static_cast<std::uint32_t>(domain_.count_of_sets++) : sets[root];
    }
    std::vector<BoundaryAmrCell>& boundary = domain_.boundary_cells;
    for (BoundaryAmrCell& one : boundary) {
      const std::int64_t set = sets[static_cast<std::size_t>(one.part < 0 ? ~one.part : one.part)];
      one.part = one.part < 0 ? ~set : set;
    }
    std::sort(boundary.begin(), boundary.end(), [](const BoundaryAmrCell& a, const BoundaryAmrCell& b) {
      return a.cell == b.cell ? a.part < b.part : a.cell.before(b.cell);
    });
    const auto same = [](const BoundaryAmrCell& a, const BoundaryAmrCell& b) {
      return a.cell == b.cell && a.part == b.part;
    };
    boundary.erase(std::unique(boundary.begin(), boundary.end(), same), boundary.end());
  }

  NeighbourSearch search_;
  AmrDomain& domain_;
  UnionFind<std::uint32_t> joined_;
};

template <class Value>
DataSet::Array list(const std::string& name, Type type, const std::vector<Value>& values, Index first, Index all) {
  return {name, type, {"cell"}, {all}, {first}, {static_cast<Index>(values.size())}, {}, {}, bytes_of(values)};
}

}  // namespace

NeighbourSearch::NeighbourSearch(const AmrGraph& graph, const LocalInput& input, double threshold, bool keep_places)
    : grid_(graph.geometry()) {
  for (const BlockView& view : input.of(graph.variable())) {
    std::unique_ptr<AmrBlock> block = amr_block(grid_, input, view, graph.component());
    if (block) {
      block->for_each_above(threshold, [&](const AmrCell& cell, double value, const Index3& place) {
        domain_.cells.push_back(cell);
        domain_.values.push_back(value);
        if (keep_places) domain_.places.push_back(place);
        domain_.views.push_back(static_cast<std::uint32_t>(blocks_.size()));
      });
    }
    blocks_.push_back(std::move(block));
  }
  if (domain_.cells.size() >= std::numeric_limits<std::uint32_t>::max() / 4) {
    fail(Code::analysis, "a server has {} cells above {}, more than can be told apart; use more servers",
         domain_.cells.size(), threshold);
  }
}

AmrGraph read_amr_graph(const Settings& settings, const Metadata& metadata, const std::string& what) {
  const Variable& variable = read_variable(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.kind() != MeshKind::octree && mesh.kind() != MeshKind::uniform) {
    settings.fail("variable",
                  fmt::format("'{}' lies on mesh '{}' of type '{}' with refinement levels; {} takes "
                              "octrees, and uniform meshes with and without levels",
                              variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none", what));
  }
  require_values_in_cells(settings, "variable", variable, mesh, what);
  const int component = read_one_component(settings, variable);
  return {mesh, whole_of<int>(settings.text("connectivity")).value(), variable, component};
}

Bytes AmrGraph::sum_values(const LocalInput& input) const {
  MeanSums sums;
  for (const BlockView& view : input.of(variable_)) {
    const std::unique_ptr<AmrBlock> block = amr_block(grid_, input, view, component_);
    if (!block) continue;
    block->for_each(
        [&](const AmrCell& cell, double value, const Index3&) { sums.add(value, grid_.volume(cell.level)); });
  }
  return sums.to_bytes();
}

void AmrGraph::for_each_domain(const LocalInput& input, double threshold, bool keep,
                               const std::function<void(const AmrDomain&)>& f) const {
  f(SetSearch(*this, input, threshold, keep).run());
}

std::vector<PartPair> AmrGraph::meetings(const std::vector<BoundaryAmrCell>& boundary, const PartNumbers& numbers,
                                         Communicator& servers) const {
  const auto count = static_cast<std::size_t>(servers.size());
  std::map<int, std::vector<BoundaryAmrCell>> to;
  for (const BoundaryAmrCell& one : boundary) {
    to[static_cast<int>(one.cell.hash() % count)].push_back({one.cell, renumbered(one.part, numbers.first())});
  }
  std::vector<BoundaryAmrCell> all = exchanged(to, servers);
  const auto first = std::partition(all.begin(), all.end(), [](const BoundaryAmrCell& one) { return one.part >= 0; });
  const auto before = [](const BoundaryAmrCell& a, const BoundaryAmrCell& b) { return a.cell.before(b.cell); };
  std::sort(all.begin(), first, before);
  std::vector<PartPair> pairs;
  for (auto sought = first; sought != all.end(); ++sought) {
    const auto [at, end] = std::equal_range(all.begin(), first, *sought, before);
    for (auto taken = at; taken != end; ++taken) {
      if (taken->part != ~sought->part) pairs.push_back({taken->part, ~sought->part});
    }
  }
  return pairs;
}

std::vector<Overlap<AmrId>> AmrGraph::overlaps(const std::vector<HaloPiece<AmrCell, AmrId>>& before,
                                               const std::vector<HaloPiece<AmrCell, AmrId>>& now,
                                               const CellOwners& owners, int server) const {
  struct Earlier {
    bool operator()(const Overlap<AmrId>& a, const Overlap<AmrId>& b) const {
      if (a.before < b.before || b.before < a.before) return a.before < b.before;
      if (a.now < b.now || b.now < a.now) return a.now < b.now;
      return a.level < b.level;
    }
  };
  std::map<Overlap<AmrId>, Index, Earlier> counts;
  const std::vector<AmrCell> cells_before = cells_of(before), cells_now = cells_of(now);
  const CellIndex index_before(cells_before), index_now(cells_now);
  for (const auto& [cell, halo] : now) {
    if (owners.home_of(cell) != server) continue;
    const std::int64_t found = index_before.find_round(cell, grid_);
    if (found >= 0) ++counts[{before[static_cast<std::size_t>(found)].halo, halo, cell.level}];
  }
  for (const auto& [cell, halo] : before) {
    if (cell.level == 0 || owners.home_of(cell) != server) continue;
    const std::int64_t found = index_now.find_round(grid_.parent_of(cell), grid_);
    if (found >= 0) ++counts[{halo, now[static_cast<std::size_t>(found)].halo, cell.level}];
  }
  std::vector<Overlap<AmrId>> overlaps;
  for (const auto& [pair, cells] : counts) overlaps.push_back({pair.before, pair.now, pair.level, cells});
  return overlaps;
}

Column AmrGraph::first_peak_column(const std::vector<Halo<AmrId>>& halos) const {
  std::vector<std::int64_t> levels;
  for (const Halo<AmrId>& halo : halos) levels.push_back(halo.peak.id.level);
  return {"peak_level", levels};
}

std::vector<Column> AmrGraph::peak_columns(const std::vector<AmrId>& peaks) const {
  std::vector<Column> columns;
  add_columns(columns, "peak_", "xyz", dimensions(), peaks.size(),
              [&](std::size_t n, std::size_t a) { return grid_.position(a, cell_of(peaks[n]), 0, true); });
  return columns;
}

void AmrGraph::write_labels(const LabelQuery& query, const std::vector<NumberedPiece<AmrCell>>& cells,
                            const CombineInput& input) const {
  Communicator& servers = input.communicator;
  const auto sorted = sorted_records(
      cells,
      [](const NumberedPiece<AmrCell>& one) {
        return std::array<Index, 4>{one.piece.level, one.piece.index[2], one.piece.index[1], one.piece.index[0]};
      },
      servers);
  std::vector<std::int32_t> on, halos;
  std::array<std::vector<std::int64_t>, 3> indices;
  for (const auto& [piece, halo] : sorted) {
    const Index3 index = in_mesh(piece);
    on.push_back(piece.level);
    halos.push_back(static_cast<std::int32_t>(halo));
    for (std::size_t a = 0; a < 3; ++a) indices[a].push_back(index[a]);
  }
  std::int64_t all = static_cast<std::int64_t>(sorted.size());
  const Index first = servers.exclusive_sum(all);
  servers.sum({&all, 1});
  DataSet data;
  data.arrays.push_back(list("halo", Type::int32, halos, first, all));
  data.arrays.push_back(list("level", Type::int32, on, first, all));
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions()); ++a) {
    data.arrays.push_back(list(std::string(1, "ijk"[a]), Type::int64, indices[a], first, all));
  }
  input.results.add_parts(query.file, data, servers, query.pieces);
}

AmrGraph::Blocks::Blocks(const AmrGraph& graph, const LocalInput& input) {
  for (const BlockView& view : input.of(graph.variable())) {
    blocks_.push_back(amr_block(graph.geometry(), input, view, graph.component()));
  }
}

bool AmrGraph::Blocks::have(const AmrCell& cell) {
  for (std::size_t n = 0; n < blocks_.size(); ++n) {
    const std::size_t b = (last_ + n) % blocks_.size();
    if (!blocks_[b] || !blocks_[b]->counts_at(cell)) continue;
    last_ = b;
    return true;
  }
  return false;
}

AmrGraph::ParticleFilter::ParticleFilter(const AmrGraph& graph, const LocalInput& input, double,
                                         const std::vector<NumberedPiece<AmrCell>>& owned)
    : grid_(graph.geometry()), cells_(cells_of(owned)), index_(cells_), blocks_(graph, input) {}

std::optional<AmrCell> AmrGraph::ParticleFilter::location_of(const std::array<double, 3>& x) {
  const std::optional<AmrCell> cell = grid_.cell_at(static_cast<std::int32_t>(grid_.levels()) - 1, x);
  if (!cell || (blocks_.have(*cell) && index_.find_round(*cell, grid_) < 0)) return std::nullopt;
  return cell;
}

AmrGraph::HaloLookup::HaloLookup(const AmrGraph& graph, const std::vector<HaloPiece<AmrCell, AmrId>>& pieces)
    : grid_(graph.geometry()), pieces_(pieces), cells_(cells_of(pieces)), index_(cells_) {}

AmrId AmrGraph::HaloLookup::halo_at(const AmrCell& cell) const {
  const std::int64_t found = index_.find_round(cell, grid_);
  return found < 0 ? no_cell<AmrId> : pieces_[static_cast<std::size_t>(found)].halo;
}

}  // namespace sidestream::halos
