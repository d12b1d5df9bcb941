// Cost of slices and isosurfaces of curvilinear and unstructured meshes, relative to those of the uniform mesh with the
// same cells: the extraction on one server, without merging and writing. Processor times, all in alternation.
//
// benchmark_surfaces [CELLS along each axis = 128] [REPETITIONS = 7] [nodes | cells | tetrahedra]
// nodes: variables at nodes of meshes whose blocks are boxes; cells: in their cells; all without the last argument.
// Before each extraction other memory is written, as by a simulation, so that the cache is cold.
// benchmarks/surfaces_vtk.py runs it and VTK's filters on the same tetrahedra.
#include <algorithm>
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

Taken surface(const std::string& name, const Run& run, bool normals) {
  IsosurfaceQuery query;
  query.variable = run.field();
  query.values = {0.3};
  query.normals = normals;
  return {name, [&run, query] { return extract(query, run.input()); }};
}

Taken slice(const std::string& name, const Run& run) {
  const double third = 1 / std::sqrt(3.0);
  SliceQuery query;
  query.variables = {run.field()};
  query.plane = {{0.501, 0.501, 0.501}, {third, third, third}};
  return {name, [&run, query] { return extract(query, run.input()); }};
}

void take_turns(std::vector<Taken>& all, int repetitions) {
  std::vector<char> elsewhere(std::size_t{128} << 20);
  for (int r = 0; r < repetitions; ++r) {
    for (Taken& one : all) {
      std::fill(elsewhere.begin(), elsewhere.end(), static_cast<char>(r));
      one.times.push_back(benchmark::processor_microseconds([&] {
        one.triangles = 0;
        for (const Piece& piece : one.work()) one.triangles += piece.triangles.size();
      }));
    }
  }
  for (const Taken& one : all) {
    std::printf("%-40s %10.2f ms  %9zu triangles\n", one.name.c_str(), benchmark::median(one.times) / 1000,
                one.triangles);
  }
}

/// Compares both kinds of meshes with one centring; returns the line of ratios.
std::string compare(const char* where, Centering centering, const Sizes& sizes, int repetitions) {
  const Run uniform(MeshKind::uniform, sizes, 20, centering), curved(MeshKind::curvilinear, sizes, 20, centering);
  std::vector<Taken> all;
  const auto add = [&](const Run& run, const char* kind) {
    const std::string name = std::string(kind) + ", " + where;
    all.push_back(surface("isosurface " + name, run, false));
    all.push_back(surface("isosurface " + name + ", normals", run, true));
    all.push_back(slice("slice " + name, run));
  };
  add(uniform, "uniform");
  add(curved, "curvilinear");
  take_turns(all, repetitions);
  const auto ratio = [&](std::size_t n) {
    return benchmark::median(all[3 + n].times) / benchmark::median(all[n].times);
  };
  char line[160];
  std::snprintf(line, sizeof line, "curvilinear / uniform, %s: isosurface %.2f, with normals %.2f, slice %.2f\n", where,
                ratio(0), ratio(1), ratio(2));
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  const Sizes sizes{argc > 1 ? std::atoll(argv[1]) : 128};
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 7;
  const std::string only = argc > 3 ? argv[3] : "";
  std::string ratios;
  if (only.empty() || only == "nodes") ratios += compare("nodes", Centering::node, sizes, repetitions);
  if (only.empty() || only == "cells") ratios += compare("cells", Centering::cell, sizes, repetitions);
  if (only.empty() || only == "tetrahedra") {
    const Run tetrahedra(MeshKind::unstructured, sizes);
    std::vector<Taken> all{surface("isosurface tetrahedra", tetrahedra, false), slice("slice tetrahedra", tetrahedra)};
    take_turns(all, repetitions);
  }
  std::fputs(ratios.c_str(), stdout);
  return 0;
}
