// An output with `keep_back` against memcpy on one core: the processor time of keeping an iteration of float64
// variables, once the ring is full, and that of copying the same values into a ring of mapped pages.
//
// benchmark_kept_iterations [VALUES [VARIABLES [ITERATIONS]]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "measure.hpp"
#include "server/engine/kept_iterations.hpp"

namespace {

using namespace sidestream;

constexpr std::size_t kept = 5;

Metadata described(Index values, int variables) {
  Metadata metadata;
  Mesh mesh;
  mesh.id = 0;
  mesh.name = "line";
  mesh.dimensions = 1;
  mesh.cells = {{0, 0, 0}, {values, 1, 1}};
  metadata.meshes.push_back(mesh);
  for (int n = 0; n < variables; ++n) {
    Variable& variable = metadata.variables.emplace_back();
    variable.id = n;
    variable.name = "v" + std::to_string(n);
    variable.mesh = 0;
  }
  return metadata;
}

BlockView viewed(const std::vector<double>& values, const Metadata& metadata) {
  BlockView view;
  view.block.mesh = 0;
  view.block.cells = view.points = metadata.meshes[0].cells;
  view.owned = {view.points};
  view.array.data = values.data();
  view.array.type = Type::float64;
  view.array.components = 1;
  view.array.box = view.points;
  view.array.strides = packed_strides(view.points, 1, Order::column);
  return view;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 20;
  const int variables = argc > 2 ? std::atoi(argv[2]) : 4, iterations = argc > 3 ? std::atoi(argv[3]) : 60;
  const Metadata metadata = described(static_cast<Index>(count), variables);
  const std::vector<std::vector<double>> published(static_cast<std::size_t>(variables),
                                                   std::vector<double>(count, 1.5));
  std::vector<std::vector<double>> ring(kept * published.size(), std::vector<double>(count));
  Views views;
  for (const std::vector<double>& values : published) views.blocks.push_back({viewed(values, metadata)});
  KeptIterations iterations_kept(kept, ~std::uint64_t{0} >> 1, metadata);
  // One after the other in turns, since the machine's pace changes; the shortest of each, which others disturb little.
  double copying = 1e9, keeping = 1e9;
  for (int n = 0; n < iterations; ++n) {
    const double copied = benchmark::processor_microseconds([&] {
      for (std::size_t v = 0; v < published.size(); ++v)
        std::memcpy(ring[static_cast<std::size_t>(n) % kept * published.size() + v].data(), published[v].data(),
                    count * 8);
    });
    const double all = benchmark::processor_microseconds([&] {
      iterations_kept.keep({n, n, 0.5 * n}, views, nullptr);
    });
    if (n < static_cast<int>(kept) + 1) continue;  // pages are mapped
    copying = std::min(copying, copied);
    keeping = std::min(keeping, all);
  }
  const double megabytes = 8e-6 * static_cast<double>(count) * variables;
  std::printf("%d variables of %zu values, %.1f MB: keep %.0f us, memcpy %.0f us, ratio %.3f\n", variables, count,
              megabytes, keeping, copying, keeping / copying);
  return ring.back()[count / 2] == 1.5 ? 0 : 1;
}
