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

#include "measure.hpp"
#include "surface_run.hpp"

using namespace sidestream;
using benchmark::Run;
using benchmark::Sizes;

namespace {

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
