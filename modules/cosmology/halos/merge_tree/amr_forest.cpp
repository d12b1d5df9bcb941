// The merge tree of cells of several levels.
//
// 1. Lists the server's cells and pairs of neighbours (neighbour_search.hpp). Each cell keeps its highest neighbour,
//    and each pair is kept for the saddles.
// 2. Follows these steepest ascents to the maxima. If two neighbours lead to different maxima, these meet at the lower
//    neighbour; the highest such cell of each two maxima is their saddle.
// 3. Joins maxima at their saddles (local_tree.cpp).
// 4. Cells whose neighbours are not all here, and the places where they seek others, are sent to servers by the hash of
//    the place, where both meet (`meet`).
#include "cosmology/halos/merge_tree/amr_forest.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "cosmology/halos/amr/neighbour_search.hpp"
#include "cosmology/halos/finder/halo_table.hpp"
#include "cosmology/halos/merge_tree/saddle_table.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {

/// Pairs of neighbours, and the ascents that follow from them.
class AmrForest::Ascents {
 public:
  Ascents(const AmrDomain& domain, const std::vector<Index>& ids)
      : domain_(domain), ids_(ids), highest_(domain.cells.size()) {
    std::iota(highest_.begin(), highest_.end(), 0);
  }

  void join(std::uint32_t n, std::uint32_t other) {
    if (n == other) return;  // around a periodic axis
    if (above(other, highest_[n])) highest_[n] = other;
    if (above(n, highest_[other])) highest_[other] = n;
    // Cells of one level find each other.
    if (n < other || domain_.cells[n].level != domain_.cells[other].level) pairs_.push_back({n, other});
  }

  /// Numbers the maxima, and each cell by its maximum.
  void follow(LocalTree& tree) const {
    tree.numbers.resize(highest_.size());
    for (std::uint32_t n = 0; n < highest_.size(); ++n) {
      if (highest_[n] != n) {
        tree.numbers[n] = static_cast<std::int32_t>(highest_[n]);
        continue;
      }
      tree.numbers[n] = ~static_cast<std::int32_t>(tree.maxima.size());
      tree.maxima.push_back(cell(n));
    }
    follow_ascents(tree.numbers);
  }

  [[nodiscard]] std::vector<SaddlePair> saddle_pairs(const LocalTree& tree) const {
    SaddleTable saddles;
    const auto later = [&](std::int32_t a, std::int32_t b) {
      return ids_[static_cast<std::size_t>(a)] > ids_[static_cast<std::size_t>(b)];
    };
    for (const auto& [n, other] : pairs_) {
      if (tree.numbers[n] == tree.numbers[other]) continue;
      const std::uint32_t lower = above(n, other) ? other : n;
      saddles.meet(static_cast<std::uint32_t>(tree.numbers[n]), static_cast<std::uint32_t>(tree.numbers[other]),
                   static_cast<std::int32_t>(lower), domain_.values[lower], later);
    }
    std::vector<SaddlePair> saddle_pairs;
    for (const SaddleTable::Entry& entry : saddles.take()) {
      saddle_pairs.push_back({cell(static_cast<std::uint32_t>(entry.cell)), entry.a, entry.b});
    }
    return saddle_pairs;
  }

  [[nodiscard]] ValuedCell cell(std::uint32_t n) const noexcept { return {domain_.values[n], ids_[n]}; }

 private:
  [[nodiscard]] bool above(std::uint32_t n, std::uint32_t other) const noexcept { return cell(other).below(cell(n)); }

  const AmrDomain& domain_;
  const std::vector<Index>& ids_;
  std::vector<std::uint32_t> highest_;  ///< of each cell and its neighbours
  std::vector<std::array<std::uint32_t, 2>> pairs_;
};

void AmrForest::build(const LocalInput& input, Built<AmrBorder>& built) {
  constexpr double all = -std::numeric_limits<double>::infinity();  // below every number, but no NaN
  NeighbourSearch search(graph_, input, all, false);
  for (const AmrCell& cell : search.domain().cells) ids_.push_back(numbers_.number_of(cell));
  Ascents ascents(search.domain(), ids_);
  std::vector<std::pair<std::uint32_t, AmrCell>> sought;
  std::vector<std::uint32_t> open;
  search.run([&](std::uint32_t n, std::uint32_t other) { ascents.join(n, other); },
             [&](std::uint32_t n, const AmrCell& place) { sought.emplace_back(n, place); },
             [&](std::uint32_t n) { open.push_back(n); });
  ascents.follow(tree_);
  std::vector<ValuedCell> touched = without_border(tree_.maxima.size());
  for (const std::uint32_t n : open) {
    ValuedCell& best = touched[static_cast<std::size_t>(tree_.numbers[n])];
    if (best.below(ascents.cell(n))) best = ascents.cell(n);
  }
  sweep_down(ascents.saddle_pairs(tree_), std::move(touched), tree_);
  const TripletMap certain(tree_.certain);
  std::vector<AmrBorder> border;
  const auto list = [&](std::uint32_t n, const AmrCell& place, std::int32_t seeks) {
    const ValuedCell cell = ascents.cell(n);
    const ValuedCell& top = tree_.maxima[static_cast<std::size_t>(tree_.numbers[n])];
    border.push_back({place, cell, certain.follow(top, cell), 0, seeks});
  };
  for (const std::uint32_t n : open) list(n, search.domain().cells[n], 0);
  for (const auto& [n, place] : sought) list(n, place, 1);
  built.append(std::move(border), tree_.open);
  domain_ = std::move(search.domain());
}

void AmrForest::clear() noexcept {
  domain_ = {};
  ids_ = {};
  tree_ = {};
}

std::vector<ServerEdge> AmrForest::meet(std::vector<AmrBorder> border, Communicator& servers) const {
  std::map<int, std::vector<AmrBorder>> to;
  for (const AmrBorder& one : border) {
    to[static_cast<int>(one.place.hash() % static_cast<std::uint64_t>(servers.size()))].push_back(one);
  }
  std::vector<AmrBorder>().swap(border);
  border = exchanged(to, servers);
  const auto sought = std::partition(border.begin(), border.end(), [](const AmrBorder& one) { return one.seeks == 0; });
  std::vector<AmrCell> cells;
  for (auto one = border.begin(); one != sought; ++one) cells.push_back(one->place);
  const CellIndex index(cells);
  SpanningForest edges;
  for (auto one = sought; one != border.end(); ++one) {
    const std::int64_t found = index.find(one->place);
    if (found < 0) continue;
    const AmrBorder& other = border[static_cast<std::size_t>(found)];
    if (other.top == one->top) continue;
    edges.add({{other.top, one->top, other.cell.below(one->cell) ? other.cell : one->cell}, other.owner, one->owner});
  }
  return edges.take();
}

std::optional<FoundCell> AmrForest::find(const Index3& place) const {
  const AmrCell finest{static_cast<std::int32_t>(grid().levels()) - 1, place};
  const std::int64_t found = CellIndex(domain_.cells).find_round(finest, grid());
  if (found < 0) return std::nullopt;
  const auto n = static_cast<std::size_t>(found);
  return FoundCell{{domain_.values[n], ids_[n]}, tree_.maxima[static_cast<std::size_t>(tree_.numbers[n])]};
}

void AmrForest::add_places(const std::string& name, const std::vector<Index>& ids, std::vector<Column>& columns) const {
  std::vector<std::int64_t> levels;
  for (const Index id : ids) levels.push_back(id < 0 ? -1 : numbers_.cell_of(id).level);
  columns.push_back({name + "level", levels});
  add_columns(columns, name, "xyz", graph_.dimensions(), ids.size(), [&](std::size_t n, std::size_t a) {
    return ids[n] < 0 ? std::numeric_limits<double>::quiet_NaN()
                      : grid().position(a, numbers_.cell_of(ids[n]), 0, true);
  });
}

void AmrForest::add_cells(const std::vector<Index>& ids, std::vector<Column>& columns) const {
  std::vector<std::int64_t> levels;
  std::vector<double> volumes;
  for (const Index id : ids) {
    levels.push_back(numbers_.cell_of(id).level);
    volumes.push_back(grid().volume(numbers_.cell_of(id).level) * grid().unit_volume());
  }
  columns.push_back({"level", levels});
  add_columns(columns, "", "ijk", graph_.dimensions(), ids.size(), [&](std::size_t n, std::size_t a) -> std::int64_t {
    return graph_.in_mesh(numbers_.cell_of(ids[n]))[a];
  });
  columns.push_back({"volume", volumes});
}

}  // namespace sidestream::halos
