// Cost of a slice through an octree on one core: finding the cut cells from the roots down, their polygons, and the
// order of the surface. Compared with a loop over an existing list of all leaves that tests each one. Processor times,
// all in alternation.
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

#include "data/mesh_arrays.hpp"
#include "measure.hpp"
#include "sidestream/kit/data/tree_walk.hpp"
#include "sphere_tree.hpp"
#include "visualisation/contour/surface_order.hpp"
#include "visualisation/extract/extract.hpp"
#include "visualisation/mesh/cells/cell_section.hpp"

using namespace sidestream;

namespace {

using Tree = benchmark::SphereTree;

/// Work of a server for any analysis of a tree: checks that the flags form a tree, and marks the cells that count.
void mark(const Tree& tree) {
  const BlockView& flags = tree.input().of(0)[0];
  static_cast<void>(level_starts(tree.mesh(), flags.block, flags.array));
  static_cast<void>(uncounted_cells(flags.array, {}));
}

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
  times.marks.push_back(benchmark::processor_microseconds([&] { mark(tree); }));
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
