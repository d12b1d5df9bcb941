// What a slice through an octree costs on one core: the cells that the plane cuts, found from the roots down, their
// polygons, and the order of the surface; beside a loop over a list of all leaves that asks of each whether the plane
// cuts it, for which the list is made already. Times of the processor, everything in turns.
//
// benchmark_tree_slice [DEEPEST level = 10] [REPETITIONS = 9] [LAYERS = 2]
// Cells near a sphere are refined down to the deepest level, with LAYERS of them on either side; others to level 6.
// The ratios come last.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "analysis/cells/cell_section.hpp"
#include "analysis/surfaces/extract.hpp"
#include "analysis/surfaces/surface_order.hpp"
#include "data/mesh_arrays.hpp"
#include "data/tree_walk.hpp"
#include "measure.hpp"

using namespace sidestream;

namespace {

constexpr int least = 6;

/// A tree of one block over a cube with one root cell, and a variable.
class Tree {
 public:
  Tree(int deepest, double layers) {
    metadata_.meshes.push_back(
        {0,
         "m",
         {},
         3,
         std::make_shared<OctreeGeometry>(Index3{1, 1, 1}, std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0})});
    std::vector<TreeCell> level{{0, {0, 0, 0}}};
    while (!level.empty()) {
      std::vector<TreeCell> next;
      for (const TreeCell& cell : level) {
        const bool refined = is_refined(cell, deepest, layers);
        refined_.push_back(refined ? 1 : 0);
        values_.push_back(std::sin(static_cast<double>(values_.size())));
        for (int c = 0; refined && c < 8; ++c) {
          next.push_back(
              {cell.level + 1,
               {2 * cell.index[0] + (c & 1), 2 * cell.index[1] + (c >> 1 & 1), 2 * cell.index[2] + (c >> 2)}});
        }
        if (!refined) leaves_.push_back(cell);
      }
      level = std::move(next);
    }
    block_.space = IndexSpace::list;
    block_.cells = list_box(static_cast<Index>(refined_.size()));
    give("split", Type::uint8, refined_.data());
    give("t", Type::float64, values_.data());
    assign_role(metadata_, "m", Role::refined, "split");
  }
  [[nodiscard]] LocalInput input() const { return {iteration_, metadata_, views_, 0, {}}; }
  /// What a server does for any analysis of a tree: whether its flags are those of a tree, and which cells count.
  void mark() const {
    static_cast<void>(level_starts(mesh(), block_, views_[0][0].array));
    static_cast<void>(uncounted_cells(views_[0][0].array, {}));
  }
  [[nodiscard]] const std::vector<TreeCell>& leaves() const { return leaves_; }
  [[nodiscard]] const Mesh& mesh() const { return metadata_.meshes[0]; }

 private:
  static bool is_refined(const TreeCell& cell, int deepest, double layers) {
    if (cell.level < least || cell.level >= deepest) return cell.level < least;
    const double size = std::ldexp(1.0, -cell.level);
    double r = 0;
    for (const Index i : cell.index) r = std::hypot(r, (static_cast<double>(i) + 0.5) * size - 0.5);
    return std::fabs(r - 0.3) < layers * size;
  }
  void give(const char* name, Type type, const void* data) {
    Variable v;
    v.id = static_cast<std::int32_t>(metadata_.variables.size());
    v.name = name;
    v.mesh = 0;
    v.type = type;
    metadata_.variables.push_back(v);
    BlockView& view = views_.emplace_back().emplace_back();
    view.block = block_;
    view.points = block_.cells;
    view.owned = {view.points};
    view.array = {data, type, MemorySpace::host, view.points, 1, {1, 0, 0, 0}};
  }

  Iteration iteration_;
  Metadata metadata_;
  Block block_;
  std::vector<std::uint8_t> refined_;
  std::vector<double> values_;
  std::vector<TreeCell> leaves_;
  std::vector<std::vector<BlockView>> views_;
};

struct Times {
  std::vector<double> cut, order, marks, list;
  std::uint64_t triangles = 0;
};

void measure(const Tree& tree, const SliceQuery& query, Times& times) {
  std::vector<Piece> pieces;
  times.cut.push_back(benchmark::processor_microseconds([&] { pieces = extract(query, tree.input()); }));
  times.order.push_back(benchmark::processor_microseconds([&] {
    const OrderedSurface surface(std::move(pieces), {{{"t", 1}}, false, {}, Type::float32});
    times.triangles = surface.triangles();
  }));
  times.marks.push_back(benchmark::processor_microseconds([&] { tree.mark(); }));
  const CellEnds whole{std::array{0.0, 1.0}, {0.0, 1.0}, {0.0, 1.0}};
  const CellSections sections(query.plane, whole, 3);
  const TreePlaces places(tree.mesh());
  std::size_t cut = 0;
  times.list.push_back(benchmark::processor_microseconds([&] {
    for (const TreeCell& leaf : tree.leaves()) {
      CellEnds ends;
      for (int a = 0; a < 3; ++a) {
        const auto n = static_cast<std::size_t>(a);
        ends[n] = {places.node(a, leaf.level, leaf.index[n]), places.node(a, leaf.level, leaf.index[n] + 1)};
      }
      cut += sections.cuts(ends) ? 1 : 0;
    }
  }));
  if (cut == 0) std::printf("the plane cuts nothing\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int deepest = argc > 1 ? std::atoi(argv[1]) : 10, repetitions = argc > 2 ? std::atoi(argv[2]) : 9;
  const Tree tree(deepest, argc > 3 ? std::atof(argv[3]) : 2);
  std::printf("%zu leaves on %d levels\n", tree.leaves().size(), deepest + 1);
  const double third = 1 / std::sqrt(3.0);
  SliceQuery along, oblique;
  along.variables = oblique.variables = {1};
  along.own = oblique.own = true;
  along.plane = {{0.5, 0.5, 0.503}, {0, 0, 1}};
  oblique.plane = {{0.503, 0.5, 0.5}, {third, third, third}};
  SliceQuery edges = oblique;
  edges.edges = true;
  const std::pair<const char*, const SliceQuery*> all[] = {
      {"across z", &along}, {"oblique", &oblique}, {"oblique, edges", &edges}};
  std::array<Times, std::size(all)> times;
  for (int r = 0; r < repetitions; ++r) {
    for (std::size_t n = 0; n < std::size(all); ++n) measure(tree, *all[n].second, times[n]);
  }
  std::string ratios;
  std::printf("which cells count    %8.2f ms, for all analyses of an iteration\n",
              benchmark::median(times[0].marks) / 1000);
  for (std::size_t n = 0; n < std::size(all); ++n) {
    const double cut = benchmark::median(times[n].cut), order = benchmark::median(times[n].order),
                 list = benchmark::median(times[n].list);
    std::printf("%-16s %8.2f ms, its order %8.2f ms, %9llu triangles; all leaves asked %8.2f ms\n", all[n].first,
                cut / 1000, order / 1000, static_cast<unsigned long long>(times[n].triangles), list / 1000);
    char line[120];
    std::snprintf(line, sizeof line, "%s: of the time to ask all leaves %.3f, with its order %.3f\n", all[n].first,
                  cut / list, (cut + order) / list);
    ratios += line;
  }
  std::fputs(ratios.c_str(), stdout);
  return 0;
}
