#include "storage/trees/structure.hpp"

#include "storage/trees/flag_bits.hpp"

namespace sidestream {

namespace {

using namespace flag_bits;

/// Calls `visit(cell)` for each refined cell in [first, past), in ascending order.
template <class Visit>
void each_parent(Flags refined, std::size_t first, std::size_t past, Visit&& visit) {
  for (std::size_t n = first; n < past; n += 64) {
    for (std::uint64_t word = word_of(refined.data() + n, past - n); word != 0; word &= word - 1) {
      visit(n + static_cast<std::size_t>(std::countr_zero(word)));
    }
  }
}

/// A flag for each cell: 1 if it is, or contains, an owned leaf.
std::vector<std::uint8_t> has_owned(const TreeShape& shape, Flags refined, Flags owned, std::span<const Index> starts) {
  std::vector<std::uint8_t> has(refined.size());
  for (std::size_t n = 0; n < has.size(); n += 8) {
    const std::size_t here = has.size() - n;
    store(truths(load(owned.data() + n, here)) & ~truths(load(refined.data() + n, here)), has.data() + n, here);
  }
  const std::size_t step = std::size_t{1} << shape.dimensions;
  for (std::size_t level = starts.size() - 1; level-- > 1;) {  // its cells are children of the level above
    const std::uint8_t* children = has.data() + starts[level];
    each_parent(refined, static_cast<std::size_t>(starts[level - 1]), static_cast<std::size_t>(starts[level]),
                [&](std::size_t parent) {
                  has[parent] = load(children, step) != 0 ? 1 : 0;
                  children += step;
                });
  }
  return has;
}

void add_run(std::vector<CellRun>& runs, const CellRun& more) {
  if (!runs.empty() && runs.back().first + runs.back().count == more.first) {
    runs.back().count += more.count;
  } else {
    runs.push_back(more);
  }
}

/// Returns the children that stay. [first, past): cells of the parents' level; `runs`: parents that stay.
std::vector<CellRun> children_of(const TreeShape& shape, Flags refined, Flags has, const std::vector<CellRun>& runs,
                                 Index first, Index past) {
  const Index step = Index{1} << shape.dimensions;
  std::vector<CellRun> children;
  Index child = past;
  auto run = runs.begin();
  each_parent(refined, static_cast<std::size_t>(first), static_cast<std::size_t>(past), [&](std::size_t cell) {
    const auto parent = static_cast<Index>(cell);
    while (run != runs.end() && run->first + run->count <= parent) ++run;
    if (has[cell] != 0 && run != runs.end() && run->first <= parent) add_run(children, {child, step});
    child += step;
  });
  return children;
}

/// Appends the flags of a run of cells that stay.
void put(PrunedTree& tree, Flags refined, Flags owned, Flags has, const CellRun& run) {
  add_run(tree.kept, run);
  const std::size_t before = tree.refined.size();
  const auto first = static_cast<std::size_t>(run.first), number = static_cast<std::size_t>(run.count);
  tree.refined.resize(before + number);
  tree.owned.resize(before + number);
  for (std::size_t n = 0; n < number; n += 8) {
    const std::size_t here = number - n;
    const std::uint64_t was = truths(load(refined.data() + first + n, here)), in = load(has.data() + first + n, here);
    store(was & in, tree.refined.data() + before + n, here);
    // Parents that become leaves lose their ownership; the others keep all bits, because any byte is allowed.
    const std::uint64_t gone = (was & ~in) * 0xff;
    store(load(owned.data() + first + n, here) & ~gone, tree.owned.data() + before + n, here);
  }
}

}  // namespace

PrunedTree pruned(const TreeShape& shape, Flags refined, Flags owned, std::span<const Index> starts) {
  PrunedTree tree;
  if (refined.empty()) return tree;
  const std::vector<std::uint8_t> all(owned.empty() ? refined.size() : 0, std::uint8_t{1});
  if (owned.empty()) owned = all;
  const std::vector<std::uint8_t> has = has_owned(shape, refined, owned, starts);
  tree.refined.reserve(refined.size());
  tree.owned.reserve(refined.size());
  std::vector<CellRun> runs{{0, starts[1]}};
  for (std::size_t level = 0; !runs.empty(); ++level) {
    for (const CellRun& run : runs) put(tree, refined, owned, has, run);
    runs = children_of(shape, refined, has, runs, starts[level], starts[level + 1]);
  }
  return tree;
}

}  // namespace sidestream
