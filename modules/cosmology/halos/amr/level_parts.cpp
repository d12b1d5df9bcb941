// Components of a server's cells on several levels that are >= the boundary.
//
// 1. Lists the counted cells above the boundary of all blocks, and indexes them by level and index.
// 2. For each cell and each neighbouring place on its level, looks for a listed cell: at that place, or a coarser cell
//    that contains it. Union-find joins the two. Finer neighbours find the cell in the same way from their side.
// 3. If no cell is found and the place is not entirely this server's block, the component is open: the place and its
//    ancestors are sought on other servers.
// 4. Closed components become halos at once if they pass the rule; open ones become parts with sums by plane, whose
//    open cells are matched with sought places later (level_gathering.cpp).
#include "cosmology/halos/amr/level_parts.hpp"

#include <algorithm>
#include <limits>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {
namespace {

bool takes(const HaloRule& rule, const LevelPeak& peak, Index cells) {
  return peak.cell.level >= 0 && peak.value >= rule.least_peak && cells >= rule.least_cells;
}

class LevelSearch {
 public:
  LevelSearch(const LocalInput& input, std::int32_t variable, int component, const AmrGrid& levels, double boundary,
              bool keep_places)
      : levels_(levels) {
    for (const BlockView& view : input.of(variable)) {
      std::unique_ptr<LevelBlock> block = level_block(levels, input, view, component);
      if (block) {
        block->for_each_above(boundary, [&](const LevelCell& cell, double value, const Index3& place) {
          cells_.push_back(cell);
          values_.push_back(value);
          if (keep_places) places_.push_back(place);
          blocks_of_.push_back(static_cast<std::uint32_t>(blocks_.size()));
        });
      }
      blocks_.push_back(std::move(block));  // null for views without counted cells
    }
    if (cells_.size() >= std::numeric_limits<std::uint32_t>::max() / 4) {
      fail(Code::analysis, "a server has {} cells above {}, more than can be told apart; use more servers",
           cells_.size(), boundary);
    }
  }

  LevelParts run(const HaloRule& halo, std::vector<OwnedLevelCell>* owned) {
    join();
    LevelParts found;
    sum_up(halo, found, owned);
    std::vector<PartCell>& sought = found.sought;
    for (PartCell& one : sought_) one.part = part_of_[joined_.find(static_cast<std::uint32_t>(one.part))];
    sought = std::move(sought_);
    std::sort(sought.begin(), sought.end(), [](const PartCell& a, const PartCell& b) {
      return a.cell == b.cell ? a.part < b.part : a.cell.before(b.cell);
    });
    const auto same = [](const PartCell& a, const PartCell& b) { return a.cell == b.cell && a.part == b.part; };
    sought.erase(std::unique(sought.begin(), sought.end(), same), sought.end());
    return found;
  }

 private:
  void join() {
    joined_ = UnionFind<std::uint32_t>(cells_.size());
    open_.resize(cells_.size());
    const CellIndex index(cells_);
    for (std::uint32_t n = 0; n < cells_.size(); ++n) {
      for (const Index3& step : levels_.steps()) {
        const std::optional<LevelCell> beside = levels_.beside(cells_[n], step);
        if (beside) look(index, n, *beside);
      }
    }
  }
  /// `place`: a neighbouring place of cell n on its level. It is a cell, a part of a coarser one, or refined; in that
  /// case the finer cells look here.
  void look(const CellIndex& index, std::uint32_t n, const LevelCell& place) {
    const auto join_with = [&](const LevelCell& cell) {
      const std::int64_t other = index.find(cell);
      if (other >= 0) joined_.join(n, static_cast<std::uint32_t>(other));
      return other >= 0;
    };
    bool found = join_with(place);
    if (!found) for_each_around(n, place, [&](const LevelCell& cell) { return found = join_with(cell); });
    if (found || blocks_[blocks_of_[n]]->has_all_of(place)) return;
    open_[n] = true;
    sought_.push_back({place, n});
    for_each_around(n, place, [&](const LevelCell& cell) {
      sought_.push_back({cell, n});
      return false;
    });
  }
  /// Calls `f` for the cells of coarser levels that contain a place but not cell n, since cells that contain n are
  /// refined. `f` returns true to stop.
  template <class F>
  void for_each_around(std::uint32_t n, LevelCell place, F&& f) const {
    for (LevelCell own = cells_[n]; place.level > 0;) {
      place = levels_.parent_of(place);
      own = levels_.parent_of(own);
      if (place == own || f(place)) return;
    }
  }

  struct Set {
    LevelPeak peak;
    Index cells = 0;
    Index3 first{};
    bool open = false;
  };

  void sum_up(const HaloRule& halo, LevelParts& found, std::vector<OwnedLevelCell>* owned) {
    std::vector<std::uint32_t> set_of(cells_.size());
    std::vector<Set> sets;
    std::vector<std::vector<std::uint32_t>> members;
    for (std::uint32_t n = 0; n < cells_.size(); ++n) {
      const std::uint32_t root = joined_.find(n);
      if (root == n) {
        set_of[n] = static_cast<std::uint32_t>(sets.size());
        sets.emplace_back();
        members.emplace_back();
      }
      const std::uint32_t s = set_of[n] = set_of[root];
      const Index3 rank = levels_.rank(cells_[n]);
      sets[s].first = sets[s].cells == 0 ? rank : std::min(sets[s].first, rank);
      sets[s].peak.raise({values_[n], cells_[n], rank});
      ++sets[s].cells;
      sets[s].open = sets[s].open || open_[n];
      members[s].push_back(n);
    }
    part_of_.assign(cells_.size(), -1);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const Set& set = sets[s];
      if (!set.open && !takes(halo, set.peak, set.cells)) continue;
      const std::int64_t owner =
          set.open ? ~static_cast<std::int64_t>(found.parts.size()) : static_cast<std::int64_t>(found.whole.size());
      for (const std::uint32_t n : members[s]) {
        if (owned) owned->push_back({cells_[n], places_[n], blocks_of_[n], owner});
      }
      LevelPlanes planes;
      for (const std::uint32_t n : members[s]) planes.add(levels_, cells_[n], values_[n]);
      if (!set.open) {
        found.whole.push_back(planes.finish(levels_, set.peak, set.cells));
        continue;
      }
      const auto part = static_cast<std::int64_t>(found.parts.size());
      found.parts.push_back({set.peak, set.cells, set.first});
      ByteWriter out;
      planes.write(out);
      found.planes.push_back(out.take());
      part_of_[joined_.find(members[s].front())] = part;
      for (const std::uint32_t n : members[s]) {
        if (open_[n]) found.taken.push_back({cells_[n], part});
      }
    }
  }

  const AmrGrid& levels_;
  std::vector<std::unique_ptr<LevelBlock>> blocks_;
  std::vector<LevelCell> cells_;
  std::vector<double> values_;
  std::vector<Index3> places_;  ///< empty unless requested
  std::vector<std::uint32_t> blocks_of_;
  UnionFind<std::uint32_t> joined_;
  std::vector<bool> open_;             ///< another block may continue next to it
  std::vector<PartCell> sought_;       ///< with the index of a cell as part
  std::vector<std::int64_t> part_of_;  ///< by cell: part of an open set, at the set's root
};

}  // namespace

LevelParts find_level_parts(const LocalInput& input, std::int32_t variable, int component, const AmrGrid& levels,
                            double boundary, const HaloRule& halo, std::vector<OwnedLevelCell>* owned) {
  return LevelSearch(input, variable, component, levels, boundary, owned != nullptr).run(halo, owned);
}

void LevelParts::write(ByteWriter& out) const {
  out.put(whole);
  out.put(parts);
  out.put(taken);
  out.put(sought);
  for (const Bytes& bytes : planes) out.put(bytes);
}

LevelParts LevelParts::read(ByteReader& in) {
  LevelParts found;
  in.get(found.whole);
  in.get(found.parts);
  in.get(found.taken);
  in.get(found.sought);
  found.planes.resize(found.parts.size());
  for (Bytes& one : found.planes) in.get(one);
  return found;
}

void LevelParts::append(LevelParts&& other) {
  const auto first = static_cast<std::int64_t>(parts.size());
  whole.insert(whole.end(), other.whole.begin(), other.whole.end());
  parts.insert(parts.end(), other.parts.begin(), other.parts.end());
  for (Bytes& bytes : other.planes) planes.push_back(std::move(bytes));
  for (PartCell one : other.taken) taken.push_back({one.cell, one.part + first});
  for (PartCell one : other.sought) sought.push_back({one.cell, one.part + first});
}

}  // namespace sidestream::halos
