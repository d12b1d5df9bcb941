// Cost of an isosurface of an octree, relative to one of the same leaves as an unstructured mesh of hexahedra, and to
// one of a uniform mesh with as many cells. The extraction on one server, without merging and writing: processor times,
// in alternation.
//
// benchmark_tree_surface [LEVEL of most leaves = 7] [REPETITIONS = 7]
// The tree is refined by one more level in a shell, which one surface crosses and one does not. Prints the ratios of
// the medians last; above 1 the octree is slower.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "data/mesh_arrays.hpp"
#include "measure.hpp"
#include "sidestream/kit/data/octree.hpp"
#include "surface_run.hpp"
#include "visualisation/extract/level_surfaces.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"

using namespace sidestream;

namespace {

double distance(const std::array<double, 3>& x) {
  return std::sqrt((x[0] - 0.5) * (x[0] - 0.5) + (x[1] - 0.5) * (x[1] - 0.5) + (x[2] - 0.5) * (x[2] - 0.5));
}

std::array<double, 3> corner(const TreeCell& cell, double along) {
  std::array<double, 3> x{};
  for (std::size_t a = 0; a < 3; ++a) x[a] = (static_cast<double>(cell.index[a]) + along) / std::exp2(cell.level);
  return x;
}

/// A mesh, its values, and the input of an analysis.
class Lists {
 public:
  Lists(MeshKind kind, Index cells, Index points, Index corners) {
    std::shared_ptr<const Geometry> geometry = std::make_shared<ArrayGeometry>(MeshKind::unstructured);
    if (kind == MeshKind::octree) {
      geometry =
          std::make_shared<OctreeGeometry>(Index3{1, 1, 1}, std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
    }
    metadata_.meshes.push_back({0, "m", {}, 3, geometry});
    block_.space = IndexSpace::list;
    block_.cells = list_box(cells);
    block_.lengths = {points, corners, 0};
  }
  Lists(const Lists&) = delete;
  void give(const char* name, Role role, Type type, int components, Centering centering, const void* data) {
    Variable v;
    v.id = static_cast<std::int32_t>(metadata_.variables.size());
    v.name = name;
    v.mesh = 0;
    v.type = type;
    v.components = components;
    v.centering = centering;
    v.role = role;
    metadata_.variables.push_back(v);
    if (role != Role::none) assign_role(metadata_, "m", role, name);
    BlockView& view = views_.emplace_back().emplace_back();
    view.block = block_;
    view.points = metadata_.variables.back().points(block_);
    view.owned = {view.points};
    view.array = {data,        type,       MemorySpace::host,
                  view.points, components, packed_strides(view.points, components, Order::column)};
  }
  [[nodiscard]] LocalInput input() const { return {iteration_, metadata_, views_, 0, {}}; }
  [[nodiscard]] std::int32_t field() const { return metadata_.find_variable("n")->id; }

 private:
  Iteration iteration_;
  Metadata metadata_;
  Block block_;
  std::vector<std::vector<BlockView>> views_;
};

/// The arrays of both meshes.
struct Tree {
  std::vector<TreeCell> cells{{0, {0, 0, 0}}};
  std::vector<std::uint8_t> refined;
  std::vector<double> values;
  std::size_t leaves = 0;

  explicit Tree(int level) {
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const TreeCell of = cells[n];
      const double r = distance(corner(of, 0.5));
      const bool fine = of.level == level && std::abs(r - 0.3) < 0.03;
      refined.push_back(of.level < level || fine ? 1 : 0);
      values.push_back(r);
      leaves += refined.back() == 0 ? 1 : 0;
      if (refined.back() == 0) continue;
      for (Index child = 0; child < 8; ++child) {
        cells.push_back(
            {of.level + 1,
             {2 * of.index[0] + (child & 1), 2 * of.index[1] + (child >> 1 & 1), 2 * of.index[2] + (child >> 2)}});
      }
    }
  }
};

/// As many hexahedra as leaves, in a box, with values at their points.
struct Hexahedra {
  std::vector<double> places, values;
  std::vector<std::int64_t> links, ends;
  std::vector<std::uint8_t> types;

  explicit Hexahedra(Index n) {
    const double h = 1.0 / static_cast<double>(n);
    for (Index p = 0; p < (n + 1) * (n + 1) * (n + 1); ++p) {
      const std::array<double, 3> x{h * static_cast<double>(p % (n + 1)),
                                    h * static_cast<double>(p / (n + 1) % (n + 1)),
                                    h * static_cast<double>(p / (n + 1) / (n + 1))};
      places.insert(places.end(), x.begin(), x.end());
      values.push_back(distance(x));
    }
    for (Index c = 0; c < n * n * n; ++c) {
      const Index first = c / (n * n) * (n + 1) * (n + 1) + c / n % n * (n + 1) + c % n;
      for (const Index at : {0, 1, 3, 2, 4, 5, 7, 6}) {
        links.push_back(first + (at & 1) + (at >> 1 & 1) * (n + 1) + (at >> 2) * (n + 1) * (n + 1));
      }
      ends.push_back(static_cast<std::int64_t>(links.size()));
    }
    types.assign(ends.size(), vtk_hexahedron);
  }
};

struct Taken {
  const char* name;
  IsosurfaceQuery query;
  LocalInput input;
  std::vector<double> times{};
  std::size_t triangles = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int level = argc > 1 ? std::atoi(argv[1]) : 7, repetitions = argc > 2 ? std::atoi(argv[2]) : 7;
  const Tree tree(level);
  Lists octree(MeshKind::octree, static_cast<Index>(tree.cells.size()), 0, 0);
  octree.give("split", Role::refined, Type::uint8, 1, Centering::cell, tree.refined.data());
  octree.give("n", Role::none, Type::float64, 1, Centering::cell, tree.values.data());
  const auto side = static_cast<Index>(std::lround(std::cbrt(static_cast<double>(tree.leaves))));
  const Hexahedra hexahedra(side);
  Lists unstructured(MeshKind::unstructured, side * side * side, static_cast<Index>(hexahedra.values.size()),
                     static_cast<Index>(hexahedra.links.size()));
  unstructured.give("pos", Role::coordinates, Type::float64, 3, Centering::node, hexahedra.places.data());
  unstructured.give("links", Role::connectivity, Type::int64, 1, Centering::cell, hexahedra.links.data());
  unstructured.give("ends", Role::offsets, Type::int64, 1, Centering::cell, hexahedra.ends.data());
  unstructured.give("types", Role::types, Type::uint8, 1, Centering::cell, hexahedra.types.data());
  unstructured.give("n", Role::none, Type::float64, 1, Centering::node, hexahedra.values.data());
  std::vector<Taken> all;
  for (const double value : {0.3, 0.45}) {
    IsosurfaceQuery query;
    query.values = {value};
    query.normals = false;
    query.variable = octree.field();
    query.in_levels = true;
    all.push_back({value < 0.4 ? "octree, through the fine shell" : "octree, beside it", query, octree.input()});
    query.variable = unstructured.field();
    query.in_levels = false;
    query.in_lists = true;
    all.push_back({value < 0.4 ? "hexahedra" : "hexahedra, the same value", query, unstructured.input()});
  }
  std::vector<char> elsewhere(std::size_t{128} << 20);
  for (int r = 0; r < repetitions; ++r) {
    for (Taken& one : all) {
      std::fill(elsewhere.begin(), elsewhere.end(), static_cast<char>(r));
      one.times.push_back(benchmark::processor_microseconds([&] {
        one.triangles = 0;
        for (const Piece& piece : extract(one.query, one.input)) one.triangles += piece.triangles.size();
      }));
    }
  }
  std::printf("%zu leaves, %lld hexahedra\n", tree.leaves, static_cast<long long>(side * side * side));
  for (const Taken& one : all) {
    std::printf("%-32s %10.2f ms  %9zu triangles\n", one.name, benchmark::median(one.times) / 1000, one.triangles);
  }
  for (std::size_t n = 0; n < all.size(); n += 2) {
    std::printf("octree / hexahedra%s: %.2f\n", n == 0 ? " through the fine shell" : " beside it",
                benchmark::median(all[n].times) / benchmark::median(all[n + 1].times));
  }
  return 0;
}
