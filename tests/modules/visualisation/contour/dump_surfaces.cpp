// Writes fields and the surfaces that the analyses make of them, as plain arrays, for compare_with_vtk.py.
// Usage: dump_surfaces DIRECTORY
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>

#include "sidestream/kit/base/fail.hpp"
#include "support/fake_domain.hpp"
#include "support/fake_lists.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr Index cells = 40;
constexpr double low = -1, high = 2 * std::numbers::pi;

double gyroid(const std::array<double, 3>& x, const Index3&, int) {
  return std::sin(x[0]) * std::cos(x[1]) + std::sin(x[1]) * std::cos(x[2]) + std::sin(x[2]) * std::cos(x[0]);
}

template <class T>
void write(const std::string& path, const std::vector<T>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!out) fail(Code::file, "cannot write '{}'", path);
}

void write(const std::string& stem, const Surface& surface) {
  write(stem + ".points", surface.points);
  write(stem + ".triangles", surface.triangles);
  if (!surface.lines.empty()) write(stem + ".lines", surface.lines);
  for (const Surface::Array& array : surface.point_data) write(stem + "." + array.name, array.values);
}

void write_field(const std::string& path, const FakeDomain& domain) {
  const Box points = domain.metadata.variables[0].points(domain.mesh().cells);
  std::vector<double> values;
  const Index layers = domain.mesh().dimensions == 2 ? 1 : points.extent(2);
  for (Index k = points.lo[2]; k < points.lo[2] + layers; ++k) {
    for (Index j = points.lo[1]; j < points.hi[1]; ++j) {
      for (Index i = points.lo[0]; i < points.hi[0]; ++i) values.push_back(domain.value(0, {i, j, k}, 0));
    }
  }
  write(path, values);
}

void dump(const std::string& directory) {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const std::string stem = directory + (centering == Centering::cell ? "/cell" : "/node");
    const FakeDomain domain = fake_cube(cells, low, high, {{"a", gyroid, centering}});
    const Division division = random_division(domain.mesh().cells, 9, 4);
    write_field(stem + ".field", domain);
    write(stem + ".surface",
          run_alone(isosurface_kind(), "{variable: a, values: 0.3}", domain, division).surfaces.begin()->second);
    write(stem + ".slice",
          run_alone(slice_kind(), "{variable: a, normal: [1, -2, 0.7], origin: [2, 2, 2]}", domain, division)
              .surfaces.begin()
              ->second);
  }
}

/// Writes a mesh of two dimensions and its surfaces.
void dump_flat(const std::string& directory) {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const std::string stem = directory + (centering == Centering::cell ? "/flat-cell" : "/flat-node");
    const FakeDomain domain = fake_square(cells, low, high, {{"a", gyroid, centering}});
    const Division division = random_division(domain.mesh().cells, 9, 4);
    write_field(stem + ".field", domain);
    write(stem + ".surface",
          run_alone(isosurface_kind(), "{variable: a, values: 0.3}", domain, division).surfaces.begin()->second);
  }
}

/// Writes an unstructured mesh. Its cells are of several kinds, or hexahedra, as a curvilinear mesh has them.
void dump_lists(const std::string& directory, const char* name, FakeCubes::Made made) {
  const std::string stem = directory + "/" + name;
  const FakeMesh mesh = FakeCubes(16, made).mesh();
  const auto field = [](const Place& x) { return gyroid({3 * x[0], 3 * x[1], 3 * x[2]}, {}, 0); };
  std::vector<double> values;
  std::vector<std::int64_t> links, ends, types;
  for (const Place& x : mesh.places) values.push_back(field(x));
  for (const FakeCell& cell : mesh.cells) {
    links.insert(links.end(), cell.points.begin(), cell.points.end());
    ends.push_back(static_cast<std::int64_t>(links.size()));
    types.push_back(cell.type);
  }
  write(stem + ".places", mesh.places);
  write(stem + ".field", values);
  write(stem + ".links", links);
  write(stem + ".ends", ends);
  write(stem + ".types", types);
  std::vector<int> block_of(mesh.cells.size());
  for (std::size_t c = 0; c < block_of.size(); ++c) block_of[c] = static_cast<int>(c * 31 % 7);
  const FakeLists lists(mesh, 3, block_of, 7, field, field);
  write(stem + ".surface", run_lists(isosurface_kind(), "{variable: n, values: 0.3}", lists).surfaces.begin()->second);
  const std::string plane = "normal: [1, -2, 0.7], origin: [0.1, 0, 0]}";
  write(stem + ".slice", run_lists(slice_kind(), "{variable: n, " + plane, lists).surfaces.begin()->second);
  write(stem + ".cells", run_lists(slice_kind(), "{variable: c, " + plane, lists).surfaces.begin()->second);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: dump_surfaces DIRECTORY\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    dump(argv[1]);
    dump_flat(argv[1]);
    dump_lists(argv[1], "tetrahedra", FakeCubes::Made::tetrahedra);
    dump_lists(argv[1], "hexahedra", FakeCubes::Made::hexahedra);
    dump_lists(argv[1], "wedges", FakeCubes::Made::wedges);
    dump_lists(argv[1], "pyramids", FakeCubes::Made::pyramids);
    dump_lists(argv[1], "mixed", FakeCubes::Made::mixed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dump_surfaces: %s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
