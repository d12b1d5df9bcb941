// Messages between servers in the transform of a field, counted by the planner of its exchanges, without data.
//
// benchmark_spectrum_messages [CELLS along each axis = 4096] [SERVERS ... = 64 512 4096 10000]
// For pencils and slabs: the number of servers with work before the transform of each of the three axes, and the
// largest share of the array on a server relative to an even division. For both exchanges: the most messages and MiB
// that one server sends, and the total number of messages. Data that a server keeps are not counted.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cosmology/spectra/pencils.hpp"

using namespace sidestream;
using namespace sidestream::spectra;

namespace {

struct Exchange {
  Index messages = 0, most_messages = 0;
  double bytes = 0, most_bytes = 0;
};

Mesh cube(Index cells) {
  Mesh mesh;
  mesh.dimensions = 3;
  mesh.cells = {{0, 0, 0}, {cells, cells, cells}};
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  return mesh;
}

/// The exchange from the boxes of a step to those of a later one.
Exchange exchange(const PencilLayout& layout, int from, int to, int servers) {
  Exchange all;
  for (int server = 0; server < servers; ++server) {
    const Box box = layout.box(from, server);
    if (box.empty()) continue;
    Index messages = 0;
    double bytes = 0;
    for (const int other : layout.meeting(to, box)) {
      if (other == server) continue;
      ++messages;
      bytes += static_cast<double>(intersection(box, layout.box(to, other)).count()) * sizeof(Complex);
    }
    all.messages += messages;
    all.bytes += bytes;
    all.most_messages = std::max(all.most_messages, messages);
    all.most_bytes = std::max(all.most_bytes, bytes);
  }
  return all;
}

void report(const Mesh& mesh, bool slabs, int servers) {
  const AxisOrder order = order_from(0);
  const ServerGrid grid = grid_of(mesh, order, slabs, servers);
  const Index n = mesh.cells.extent(0);
  const Index3 extents{n / 2 + 1, n, n};
  const PencilLayout layout(extents, grid);
  const double even = static_cast<double>(extents[0] * extents[1] * extents[2]) / servers;
  std::printf("%-7s %6d = %4lld x %-4lld working", slabs ? "slabs" : "pencils", servers,
              static_cast<long long>(grid.second), static_cast<long long>(grid.third));
  double largest = 0;
  for (int step = 0; step < 3; ++step) {
    Index working = 0;
    for (int server = 0; server < servers; ++server) {
      const Box box = layout.box(step, server);
      working += box.empty() ? 0 : 1;
      largest = std::max(largest, static_cast<double>(box.count()) / even);
    }
    std::printf(" %5lld", static_cast<long long>(working));
  }
  std::printf("  largest share %5.2f", largest);
  // If the second axis is complete at first, there is one exchange.
  const std::vector<std::pair<int, int>> steps =
      grid.second == 1 ? std::vector<std::pair<int, int>>{{0, 2}} : std::vector<std::pair<int, int>>{{0, 1}, {1, 2}};
  for (const auto& [from, to] : steps) {
    const Exchange sent = exchange(layout, from, to, servers);
    std::printf("  | %5lld messages, %9.2f MiB each at most, %10lld in all", static_cast<long long>(sent.most_messages),
                sent.most_bytes / 1048576, static_cast<long long>(sent.messages));
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const Index cells = argc > 1 ? std::atoll(argv[1]) : 4096;
  std::vector<int> servers;
  for (int n = 2; n < argc; ++n) servers.push_back(std::atoi(argv[n]));
  if (servers.empty()) servers = {64, 512, 4096, 10000};
  const Mesh mesh = cube(cells);
  for (const int count : servers) {
    for (const bool slabs : {false, true}) report(mesh, slabs, count);
  }
  return 0;
}
