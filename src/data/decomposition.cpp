#include "sidestream/data/decomposition.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "sidestream/data/mesh.hpp"

namespace sidestream {

namespace {

/// Part `n` of `parts` of the indices from lo to hi.
std::array<Index, 2> part_of(Index lo, Index hi, Index parts, Index n) {
  const Index each = (hi - lo) / parts, more = (hi - lo) % parts;
  const Index begin = lo + each * n + std::min(n, more);
  return {begin, begin + each + (n < more ? 1 : 0)};
}

/// The axes that may be cut.
std::array<bool, 3> cut_axes(const Decomposition& decomposition, const Mesh& mesh) {
  std::array<bool, 3> cut{};
  for (int a = 0; a < mesh.dimensions; ++a) {
    const bool slabs = decomposition.kind == Decomposition::Kind::slabs;
    const bool bricks = decomposition.kind == Decomposition::Kind::bricks;
    cut[static_cast<std::size_t>(a)] = bricks || (a == decomposition.axis) == slabs;
  }
  return cut;
}

/// Cost of a decomposition, less is better: the largest piece, then the number of parts, then the surface. All servers
/// compute the same doubles.
using Badness = std::tuple<double, double, double>;

Badness badness(const Box& cells, const Index3& parts) {
  double largest = 1, pieces = 1, surface = 0;
  std::array<double, 3> extent{};
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    extent[n] = static_cast<double>(cells.extent(a));
    largest *= static_cast<double>((cells.extent(a) + parts[n] - 1) / parts[n]);
    pieces *= static_cast<double>(parts[n]);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    surface += static_cast<double>(parts[a] - 1) * extent[(a + 1) % 3] * extent[(a + 2) % 3];
  }
  return {largest, -pieces, surface};
}

/// The number of parts along each axis.
Index3 parts_of(const Decomposition& decomposition, const Mesh& mesh, Index servers) {
  const std::array<bool, 3> cut = cut_axes(decomposition, mesh);
  Index3 most{1, 1, 1};
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    if (cut[n]) most[n] = std::max<Index>(1, std::min(servers, mesh.cells.extent(a)));
  }
  Index3 best{1, 1, 1};
  Badness least = badness(mesh.cells, best);
  for (Index i = 1; i <= most[0]; ++i) {
    for (Index j = 1; j <= std::min(most[1], servers / i); ++j) {
      // More parts along the last axis never increase the cost.
      const Index3 parts{i, j, std::min(most[2], servers / (i * j))};
      const Badness now = badness(mesh.cells, parts);
      if (now >= least) continue;
      least = now;
      best = parts;
    }
  }
  return best;
}

}  // namespace

Box piece_of(const Decomposition& decomposition, const Mesh& mesh, int servers, int server) {
  const Index3 parts = parts_of(decomposition, mesh, servers);
  const Index n = server;
  Box piece;  // empty
  if (n >= parts[0] * parts[1] * parts[2] || mesh.cells.empty()) return piece;
  const Index3 at{n % parts[0], n / parts[0] % parts[1], n / (parts[0] * parts[1])};
  for (std::size_t a = 0; a < 3; ++a) {
    const auto [lo, hi] = part_of(mesh.cells.lo[a], mesh.cells.hi[a], parts[a], at[a]);
    piece.lo[a] = lo;
    piece.hi[a] = hi;
  }
  return piece;
}

}  // namespace sidestream
