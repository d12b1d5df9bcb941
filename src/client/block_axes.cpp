// Rectilinear meshes assembled from the axes that clients give for their blocks.
//
// Clients agree on the next mesh name, since a client without blocks of a mesh does not know it. Then, for each axis,
// they reduce the number of nodes (maximum of the blocks' ends) and check that at least that many were given, before
// memory is allocated. The coordinate of each node is the minimum over all clients; blocks whose nodes differ from it
// by more than a rounding error, and nodes that no block gives, are errors.
#include "client/block_axes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr double nowhere = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-6;  // relative to the distance between two nodes

std::vector<const BlockAxes*> blocks_on(const std::string& mesh, std::span<const BlockAxes> mine) {
  std::vector<const BlockAxes*> found;
  for (const BlockAxes& axes : mine) {
    if (axes.mesh == mesh) found.push_back(&axes);
  }
  return found;
}

/// Returns the number of dimensions; throws the same error on all clients if they disagree.
int dimensions_of(const std::string& mesh, const std::vector<const BlockAxes*>& blocks, Communicator& clients) {
  std::int64_t lowest = 4, highest = 0;
  for (const BlockAxes* block : blocks) {
    lowest = std::min<std::int64_t>(lowest, block->dimensions);
    highest = std::max<std::int64_t>(highest, block->dimensions);
  }
  clients.minimum(std::span(&lowest, 1));
  clients.maximum(std::span(&highest, 1));
  if (lowest == highest) return static_cast<int>(lowest);
  fail(Code::usage,
       "set_rectilinear_block: blocks of the mesh '{}' have nodes along {} and along {} axes; expected the same on all",
       mesh, lowest, highest);
}

/// Returns the number of nodes of the whole axis. Throws if fewer were given in total, before memory is allocated for
/// them.
std::size_t count_nodes(const std::string& mesh, const std::vector<const BlockAxes*>& blocks, std::size_t axis,
                        Communicator& clients) {
  std::int64_t last = 0, given = 0;
  for (const BlockAxes* block : blocks) {
    last = std::max(last, block->cells.hi[axis]);
    given += static_cast<std::int64_t>(block->nodes[axis].size());
  }
  clients.maximum(std::span(&last, 1));
  clients.sum(std::span(&given, 1));
  if (last < given) return static_cast<std::size_t>(last) + 1;
  fail(Code::usage,
       "set_rectilinear_block: the mesh '{}' has cells up to {} on axis {}, but its blocks give {} nodes in all; give "
       "every block with its own nodes, counted from the first of the mesh",
       mesh, last, axis, given);
}

void check_axis(const std::string& mesh, std::size_t axis, const std::vector<double>& low,
                const std::vector<double>& high) {
  for (std::size_t n = 0; n < low.size(); ++n) {
    if (low[n] == nowhere) {
      fail(Code::usage,
           "set_rectilinear_block: no block gives node {} on axis {} of the mesh '{}'; its blocks must cover the axis",
           n, axis, mesh);
    }
    if (n > 0 && !(low[n] > low[n - 1])) {
      fail(Code::usage,
           "set_rectilinear_block: node {} on axis {} of the mesh '{}' is at {}, and the one before at {}; expected "
           "increasing positions",
           n, axis, mesh, low[n], low[n - 1]);
    }
    const double step = n > 0 ? low[n] - low[n - 1] : nowhere;
    if (high[n] - low[n] <= rounding * step) continue;
    fail(Code::usage,
         "set_rectilinear_block: node {} on axis {} of the mesh '{}' is at {} in one block and at {} in another; give "
         "nodes that blocks share the same position",
         n, axis, mesh, low[n], high[n]);
  }
}

std::vector<double> axis_of(const std::string& mesh, const std::vector<const BlockAxes*>& blocks, std::size_t axis,
                            Communicator& clients) {
  const std::size_t count = count_nodes(mesh, blocks, axis, clients);
  std::vector<double> low(count, nowhere), high(count, -nowhere);
  for (const BlockAxes* block : blocks) {
    auto at = static_cast<std::size_t>(block->cells.lo[axis]);
    for (const double node : block->nodes[axis]) {
      low[at] = std::min(low[at], node);
      high[at] = std::max(high[at], node);
      ++at;
    }
  }
  clients.minimum(std::span(low));
  clients.maximum(std::span(high));
  check_axis(mesh, axis, low, high);
  return low;
}

Mesh mesh_of(const std::string& name, std::span<const BlockAxes> mine, Communicator& clients) {
  const std::vector<const BlockAxes*> blocks = blocks_on(name, mine);
  Mesh mesh;
  mesh.name = name;
  mesh.dimensions = dimensions_of(name, blocks, clients);
  std::array<std::vector<double>, 3> nodes{std::vector<double>{0, 1}, {0, 1}, {0, 1}};
  for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
    nodes[a] = axis_of(name, blocks, a, clients);
  }
  for (std::size_t a = 0; a < 3; ++a) mesh.cells.hi[a] = static_cast<Index>(nodes[a].size()) - 1;
  mesh.geometry = std::make_shared<RectilinearGeometry>(mesh.cells.lo, std::move(nodes));
  return mesh;
}

}  // namespace

void check_axes(const BlockAxes& axes) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(axes.dimensions); ++a) {
    const Index lo = axes.cells.lo[a], hi = axes.cells.hi[a];
    const std::vector<double>& nodes = axes.nodes[a];
    if (lo < 0 || hi <= lo || static_cast<Index>(nodes.size()) != hi - lo + 1) {
      fail(
          Code::usage,
          "set_rectilinear_block: cells {} to {} on axis {} of the mesh '{}' and {} nodes; expected at least one cell, "
          "counted from 0, and a node more than cells",
          lo, hi, a, axes.mesh, nodes.size());
    }
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (std::isfinite(nodes[n]) && (n == 0 || nodes[n] > nodes[n - 1])) continue;
      fail(Code::usage,
           "set_rectilinear_block: node {} on axis {} of a block of the mesh '{}' is at {}{}; expected increasing "
           "finite positions",
           lo + static_cast<Index>(n), a, axes.mesh, nodes[n],
           n > 0 ? fmt::format(", and the one before at {}", nodes[n - 1]) : "");
    }
  }
}

std::vector<Mesh> meshes_of(std::span<const BlockAxes> mine, Communicator& clients) {
  std::vector<std::string> left;
  for (const BlockAxes& axes : mine) {
    if (std::find(left.begin(), left.end(), axes.mesh) == left.end()) left.push_back(axes.mesh);
  }
  std::vector<Mesh> meshes;
  while (true) {
    // A client without a block of a mesh does not know its name, so a client that has one names the next mesh.
    std::int64_t names = left.empty() ? -1 : clients.rank();
    clients.maximum(std::span(&names, 1));
    if (names < 0) return meshes;
    Bytes text;
    if (names == clients.rank()) {
      const auto bytes = std::as_bytes(std::span(left.front()));
      text.assign(bytes.begin(), bytes.end());
    }
    clients.broadcast(text, static_cast<int>(names));
    const std::string name(reinterpret_cast<const char*>(text.data()), text.size());
    meshes.push_back(mesh_of(name, mine, clients));
    std::erase(left, name);
  }
}

}  // namespace sidestream
