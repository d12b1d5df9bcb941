// What slices and isosurfaces of curvilinear and unstructured meshes cost, beside those of the uniform mesh of the same
// cells: the extraction on one server, without merging and writing.
//
// benchmark_surfaces [CELLS along each axis = 128] [REPETITIONS = 5]
// benchmarks/surfaces_vtk.py runs it and VTK's filter on the same tetrahedra.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "analysis/extract.hpp"
#include "data/mesh_arrays.hpp"
#include "measure.hpp"

using namespace sidestream;

namespace {

struct Sizes {
  Index cells;
  [[nodiscard]] Index nodes() const { return cells + 1; }
  [[nodiscard]] Index points() const { return nodes() * nodes() * nodes(); }
};

/// A mesh of one block with a field `n` at its points, and what an analysis gets of it.
class Run {
 public:
  Run(MeshKind kind, const Sizes& sizes) : sizes_(sizes) {
    const Index n = sizes.cells;
    const double h = 1.0 / static_cast<double>(n);
    std::shared_ptr<const Geometry> geometry = std::make_shared<ArrayGeometry>(kind);
    if (kind == MeshKind::uniform) {
      geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{h, h, h});
    }
    metadata_.meshes.push_back({0, "m", {{0, 0, 0}, {n, n, n}}, 3, geometry});
    block_.cells = metadata_.meshes[0].cells;
    if (kind == MeshKind::unstructured) {
      const Index cells = 6 * n * n * n;
      block_.space = IndexSpace::list;
      block_.cells = list_box(cells);
      block_.lengths = {sizes.points(), 4 * cells, 0};
      add_tetrahedra();
    }
    make_points(kind);
    input_.emplace(LocalInput{iteration_, metadata_, views_, 0, {}});
  }
  Run(const Run&) = delete;

  [[nodiscard]] const LocalInput& input() const { return *input_; }
  [[nodiscard]] std::int32_t field() const { return metadata_.find_variable("n")->id; }

 private:
  void give(const char* name, Role role, Type type, int components, Centering centering, const void* data) {
    Variable v;
    v.id = static_cast<std::int32_t>(metadata_.variables.size());
    v.name = name;
    v.mesh = 0;
    v.type = type;
    v.components = components;
    v.centering = centering;
    metadata_.variables.push_back(v);
    if (role != Role::none) assign_role(metadata_, "m", role, name);
    BlockView& view = views_.emplace_back().emplace_back();
    view.block = block_;
    view.points = metadata_.variables.back().points(block_);
    view.owned = {view.points};
    view.array = {data,        type,       MemorySpace::host,
                  view.points, components, packed_strides(view.points, components, Order::column)};
  }

  void make_points(MeshKind kind) {
    const double h = 1.0 / static_cast<double>(sizes_.cells);
    for (Index k = 0; k < sizes_.nodes(); ++k) {
      for (Index j = 0; j < sizes_.nodes(); ++j) {
        for (Index i = 0; i < sizes_.nodes(); ++i) {
          const double x = h * static_cast<double>(i), y = h * static_cast<double>(j), z = h * static_cast<double>(k);
          if (kind != MeshKind::uniform) places_.insert(places_.end(), {x, y, z});
          const double a = 20 * x, b = 20 * y, c = 20 * z;
          values_.push_back(std::sin(a) * std::cos(b) + std::sin(b) * std::cos(c) + std::sin(c) * std::cos(a));
        }
      }
    }
    give("n", Role::none, Type::float64, 1, Centering::node, values_.data());
    if (kind != MeshKind::uniform) give("pos", Role::coordinates, Type::float64, 3, Centering::node, places_.data());
  }

  void add_tetrahedra() {
    constexpr int ways[6][2] = {{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}};  // round the diagonal from 0 to 7
    const Index n = sizes_.cells, row = sizes_.nodes(), plane = row * row;
    for (Index cube = 0; cube < n * n * n; ++cube) {
      const Index first = cube / (n * n) * plane + cube / n % n * row + cube % n;
      const auto point = [&](int c) { return first + (c & 1) + (c >> 1 & 1) * row + (c >> 2) * plane; };
      for (const auto& [a, b] : ways) {
        links_.insert(links_.end(), {point(0), point(a), point(b), point(7)});
        ends_.push_back(static_cast<std::int64_t>(links_.size()));
      }
    }
    types_.assign(ends_.size(), 10);
    give("links", Role::connectivity, Type::int64, 1, Centering::cell, links_.data());
    give("ends", Role::offsets, Type::int64, 1, Centering::cell, ends_.data());
    give("types", Role::types, Type::uint8, 1, Centering::cell, types_.data());
  }

  Sizes sizes_;
  Iteration iteration_;
  Metadata metadata_;
  Block block_;
  std::vector<double> values_, places_;
  std::vector<std::int64_t> links_, ends_;
  std::vector<std::uint8_t> types_;
  std::vector<std::vector<BlockView>> views_;
  std::optional<LocalInput> input_;
};

struct Taken {
  std::string name;
  std::function<std::vector<Piece>()> work;
  std::vector<double> times{};
  std::size_t triangles = 0;
};

Taken surface(const char* name, const Run& run, bool normals) {
  IsosurfaceQuery query;
  query.variable = run.field();
  query.values = {0.3};
  query.normals = normals;
  return {name, [&run, query] { return extract(query, run.input()); }};
}

Taken slice(const char* name, const Run& run, const std::array<double, 3>& normal) {
  SliceQuery query;
  query.variables = {run.field()};
  query.plane = {{0.501, 0.501, 0.501}, normal};
  return {name, [&run, query] { return extract(query, run.input()); }};
}

}  // namespace

int main(int argc, char** argv) {
  const Sizes sizes{argc > 1 ? std::atoll(argv[1]) : 128};
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  const Run uniform(MeshKind::uniform, sizes), curved(MeshKind::curvilinear, sizes),
      tetrahedra(MeshKind::unstructured, sizes);
  const double third = 1 / std::sqrt(3.0);
  std::vector<Taken> all;
  all.push_back(surface("isosurface uniform", uniform, false));
  all.push_back(surface("isosurface curvilinear", curved, false));
  all.push_back(surface("isosurface uniform, normals", uniform, true));
  all.push_back(surface("isosurface curvilinear, normals", curved, true));
  all.push_back(slice("slice uniform", uniform, {third, third, third}));
  all.push_back(slice("slice curvilinear", curved, {third, third, third}));
  all.push_back(surface("isosurface tetrahedra", tetrahedra, false));
  all.push_back(slice("slice tetrahedra", tetrahedra, {third, third, third}));
  for (int r = 0; r < repetitions; ++r) {
    for (Taken& one : all) {
      one.times.push_back(benchmark::microseconds([&] {
        one.triangles = 0;
        for (const Piece& piece : one.work()) one.triangles += piece.triangles.size();
      }));
    }
  }
  for (const Taken& one : all) {
    std::printf("%-32s %10.1f ms  %9zu triangles\n", one.name.c_str(), benchmark::median(one.times) / 1000,
                one.triangles);
  }
  const auto ratio = [&](std::size_t a, std::size_t b) {
    return benchmark::median(all[a].times) / benchmark::median(all[b].times);
  };
  std::printf("curvilinear / uniform: isosurface %.2f, with normals %.2f, slice %.2f\n", ratio(1, 0), ratio(3, 2),
              ratio(5, 4));
  return 0;
}
