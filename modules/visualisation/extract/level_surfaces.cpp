// Isosurfaces on refinement levels, and the dual seams between their blocks.
//
// For seams, servers sample the Morton keys of their rim leaves and agree on boundaries of equal shares of the curve.
// Each leaf goes to all servers whose share has one of its corners; a box is mapped to servers by descending the octree
// of the curve. The leaves are sorted, a LeafTree finds the corners at which they meet, and a server keeps those
// corners that lie in its share and have leaves of several blocks.
#include "visualisation/extract/level_surfaces.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/sample_sort.hpp"
#include "visualisation/contour/contour_cells.hpp"
#include "visualisation/contour/surface.hpp"
#include "visualisation/mesh/amr/block_leaves.hpp"
#include "visualisation/mesh/amr/leaf_tree.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"

namespace sidestream {

namespace {

/// The leaves that dual cells use, renumbered; updates the numbers in `duals`.
LeafSet used_leaves(const LeafSet& leaves, std::vector<DualCell>& duals, std::size_t corners) {
  std::vector<std::int64_t> numbers(leaves.cells.size(), -1);
  LeafSet used;
  std::vector<std::size_t> which;
  for (DualCell& dual : duals) {
    for (std::size_t n = 0; n < corners; ++n) {
      std::int64_t& number = numbers[static_cast<std::size_t>(dual[n])];
      if (number < 0) {
        number = static_cast<std::int64_t>(which.size());
        which.push_back(static_cast<std::size_t>(dual[n]));
      }
      dual[n] = number;
    }
  }
  for (const std::size_t leaf : which) used.cells.push_back(leaves.cells[leaf]);
  for (std::size_t c = 0; c < leaves.columns.size(); ++c) {
    std::vector<double>& column = used.columns.emplace_back();
    for (const std::size_t leaf : which) column.push_back(leaves.at(c, leaf));
  }
  return used;
}

std::vector<Piece> contour_duals(const Lattice& lattice, const LeafSet& leaves, std::vector<DualCell> duals,
                                 std::span<const double> values) {
  const std::size_t corners = std::size_t{1} << lattice.dimensions();
  LeafSet used = used_leaves(leaves, duals, corners);
  std::vector<std::array<double, 3>> places;
  std::vector<std::int64_t> names, links;
  places.reserve(used.cells.size());
  names.reserve(used.cells.size());
  links.reserve(corners * duals.size());
  for (const TreeCell& cell : used.cells) {
    places.push_back(lattice.centre(cell));
    names.push_back(lattice.name(cell));
  }
  for (const DualCell& dual : duals) {
    links.insert(links.end(), dual.begin(), dual.begin() + static_cast<std::ptrdiff_t>(corners));
  }
  const CellList list(lattice.mesh(), std::move(places), std::move(names),
                      lattice.dimensions() == 3 ? vtk_voxel : vtk_pixel, std::move(links));
  CellContour request{.list = list, .numbers = std::move(used.columns[0])};
  for (std::size_t c = 1; c < used.columns.size(); ++c) {
    request.fields.push_back({Centering::node, std::move(used.columns[c])});
  }
  request.mirrored = lattice.mirrored();
  return contour_cells(request, values);
}

void append(std::vector<Piece> more, std::vector<Piece>& pieces) {
  for (Piece& piece : more) {
    if (!piece.triangles.empty() || !piece.lines.empty()) pieces.push_back(std::move(piece));
  }
}

const Mesh& mesh_of(const IsosurfaceQuery& query, const Metadata& metadata) {
  return metadata.mesh_of(metadata.variables.at(static_cast<std::size_t>(query.variable)));
}

}  // namespace

LevelPieces extract_from_levels(const IsosurfaceQuery& query, const LocalInput& input) {
  const Lattice lattice(mesh_of(query, input.metadata));
  const LeafColumns columns{query.variable, query.component, query.fields, query.choice};
  LevelPieces found;
  for (const BlockView& view : input.of(query.variable)) {
    std::optional<BlockLeaves> block = find_leaves(lattice, input, view, columns, query.values);
    if (!block) continue;
    if (!block->rim.empty()) found.rims.push_back({view.block.id, rim_of(*block)});
    append(contour_duals(lattice, block->leaves, std::move(block->duals), query.values), found.pieces);
  }
  return found;
}

std::vector<Piece> pieces_between(const IsosurfaceQuery& query, const Metadata& metadata,
                                  std::span<const BlockRim> rims, Communicator& servers) {
  const Lattice lattice(mesh_of(query, metadata));
  std::size_t width = 1;
  for (const AttributeLayout& field : layout_of(query, metadata)) width += static_cast<std::size_t>(field.components);
  Seams seams = join_rims(lattice, rims, width, query.values, servers);
  std::vector<Piece> pieces;
  append(contour_duals(lattice, seams.leaves, std::move(seams.duals), query.values), pieces);
  return pieces;
}

void add_normals(const IsosurfaceQuery& query, const Metadata& metadata, std::span<const BlockRim> rims,
                 std::vector<Piece>& pieces, std::size_t between, Communicator& servers) {
  const Lattice lattice(mesh_of(query, metadata));
  std::vector<std::int64_t> shared;  // a point in several pieces lies between two leaves of borders
  for (const BlockRim& rim : rims) {
    for (const TreeCell& cell : rim.leaves.cells) shared.push_back(lattice.name(cell));
  }
  // Pieces between blocks may contain leaves from other servers.
  for (std::size_t p = between; p < pieces.size(); ++p) {
    shared.insert(shared.end(), pieces[p].keys.begin(), pieces[p].keys.end());
    shared.insert(shared.end(), pieces[p].others.begin(), pieces[p].others.end());
  }
  std::sort(shared.begin(), shared.end());
  add_facet_normals(pieces, shared, servers);
}

void LayerRims::add(std::size_t layer, std::vector<BlockRim> rims) {
  for (BlockRim& rim : rims) rims_[layer].push_back(std::move(rim));
}

Bytes LayerRims::with(BytesView rest) const {
  ByteWriter out;
  for (const std::vector<BlockRim>& rims : rims_) out.put(to_bytes(rims));
  out.put_all(rest);
  return out.take();
}

std::vector<Bytes> LayerRims::split(std::span<const Bytes> partials) {
  std::vector<Bytes> rests;
  for (const Bytes& partial : partials) {
    ByteReader in(partial);
    for (std::size_t layer = 0; layer < rims_.size(); ++layer) {
      Bytes bytes;
      in.get(bytes);
      add(layer, to_rims(bytes));
    }
    in.get_all(rests.emplace_back(), in.left());
  }
  return rests;
}

void LevelLayers::add(std::size_t layer, LevelPieces found) { given_[layer] = std::move(found); }

Bytes LevelLayers::partial(const LocalInput& input, BytesView rest) {
  const std::size_t layers = given_.size();
  LayerRims rims(layers);
  ByteWriter out;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    rims.add(layer, std::move(given_[layer].rims));
    out.put(held_[layer].give(std::move(given_[layer].pieces), input));
    given_[layer] = {};
  }
  out.put_all(rest);
  return rims.with(out.take());
}

std::vector<Bytes> LevelLayers::take(const CombineInput& input) {
  const std::size_t layers = given_.size();
  rims_ = LayerRims(layers);
  std::vector<Bytes> rests;
  std::vector<std::vector<Bytes>> given(layers);
  for (const Bytes& partial : rims_.split(input.partials)) {
    ByteReader in(partial);
    for (std::vector<Bytes>& of_layer : given) in.get(of_layer.emplace_back());
    in.get_all(rests.emplace_back(), in.left());
  }
  for (std::size_t layer = 0; layer < layers; ++layer) pieces_[layer] = held_[layer].take(input, given[layer]);
  return rests;
}

std::vector<Piece> LevelLayers::surface(std::size_t layer, const IsosurfaceQuery& query, const CombineInput& input) {
  std::vector<Piece> pieces = std::exchange(pieces_[layer], {});
  const std::size_t between = pieces.size();
  for (Piece& piece : pieces_between(query, input.metadata, rims_.of(layer), input.communicator)) {
    pieces.push_back(std::move(piece));
  }
  if (query.normals) add_normals(query, input.metadata, rims_.of(layer), pieces, between, input.communicator);
  return pieces;
}

void LevelLayers::drop() noexcept {
  for (LocalPieces& held : held_) held.drop();
  for (LevelPieces& given : given_) given = {};
  for (std::vector<Piece>& pieces : pieces_) pieces.clear();
}

namespace {

constexpr int curve_bits = 20;  ///< per axis

/// The servers' shares of a Morton curve through the mesh.
class Curve {
 public:
  Curve(const Lattice& lattice, Communicator& servers) : lattice_(lattice), servers_(servers) {
    Index widest = 1;
    for (int a = 0; a < 3; ++a) widest = std::max(widest, lattice.domain().extent(a));
    shift_ = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(widest))) - curve_bits);
  }

  /// Divides the curve into equal shares of these cells. Collective.
  void divide(const std::vector<TreeCell>& cells) {
    if (servers_.size() == 1) return;
    std::vector<std::int64_t> keys;
    keys.reserve(cells.size());
    for (const TreeCell& cell : cells) keys.push_back(key(lattice_.box(cell).lo));
    begins_ = share_boundaries(std::move(keys), servers_);
  }

  /// The server that owns a corner.
  [[nodiscard]] int server_of(const Index3& corner) const {
    return static_cast<int>(std::upper_bound(begins_.begin(), begins_.end(), key(corner)) - begins_.begin());
  }

  /// The servers that own any corner of a box, ascending.
  void servers_of(const Box& corners, std::vector<int>& found) const {
    found.clear();
    Box box = corners;
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = (corners.lo[a] - lattice_.domain().lo[a]) >> shift_;
      box.hi[a] = (corners.hi[a] - lattice_.domain().lo[a]) >> shift_;  // inclusive
    }
    look(box, {0, 0, 0}, curve_bits, 0, found);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }

 private:
  [[nodiscard]] std::int64_t key(const Index3& corner) const {
    std::int64_t key = 0;
    for (int bit = curve_bits; bit-- > 0;) {
      for (std::size_t a = 3; a-- > 0;) {
        key = key << 1 | ((corner[a] - lattice_.domain().lo[a]) >> shift_ >> bit & 1);
      }
    }
    return key;
  }
  /// Visits a cube of 2^bits positions per axis, which is a contiguous part of the curve. The box includes its upper
  /// ends.
  void look(const Box& box, const Index3& cube, int bits, std::int64_t first, std::vector<int>& found) const {
    const Index width = Index{1} << bits;
    for (std::size_t a = 0; a < 3; ++a) {
      if (box.hi[a] < cube[a] || box.lo[a] >= cube[a] + width) return;
    }
    const std::int64_t last = first + (std::int64_t{1} << 3 * bits) - 1;
    const auto server = std::upper_bound(begins_.begin(), begins_.end(), first) - begins_.begin();
    if (bits == 0 || server == std::upper_bound(begins_.begin(), begins_.end(), last) - begins_.begin()) {
      found.push_back(static_cast<int>(server));
      return;
    }
    for (std::int64_t part = 0; part < 8; ++part) {
      const Index3 corner{cube[0] + (part & 1) * width / 2, cube[1] + (part >> 1 & 1) * width / 2,
                          cube[2] + (part >> 2 & 1) * width / 2};
      look(box, corner, bits - 1, first + (part << 3 * (bits - 1)), found);
    }
  }

  const Lattice& lattice_;
  Communicator& servers_;
  int shift_ = 0;
  std::vector<std::int64_t> begins_;  ///< beginning of each server's share except the first
};

/// Leaves with the blocks that own them.
struct DealtLeaves {
  LeafSet leaves;
  std::vector<std::int64_t> blocks;

  explicit DealtLeaves(std::size_t width) { leaves.columns.resize(width); }
  void add(const BlockRim& rim) {
    const LeafSet& more = rim.leaves;
    leaves.cells.insert(leaves.cells.end(), more.cells.begin(), more.cells.end());
    blocks.insert(blocks.end(), more.cells.size(), rim.block);
    for (std::size_t c = 0; c < leaves.columns.size(); ++c) {
      leaves.columns[c].insert(leaves.columns[c].end(), more.columns[c].begin(), more.columns[c].end());
    }
  }
  /// Sorts by level, position and block, so that results do not depend on where leaves came from.
  void sort() {
    std::vector<std::size_t> order(leaves.cells.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t n) {
      const TreeCell& cell = leaves.cells[n];
      return std::tie(cell.level, cell.index[2], cell.index[1], cell.index[0], blocks[n]);
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    const auto arrange = [&](auto& list) {
      auto sorted = list;
      for (std::size_t n = 0; n < order.size(); ++n) sorted[n] = list[order[n]];
      list = std::move(sorted);
    };
    arrange(leaves.cells);
    arrange(blocks);
    for (auto& column : leaves.columns) arrange(column);
  }
};

/// Sends each server the leaves around the corners that it owns. Collective.
DealtLeaves dealt(const Lattice& lattice, std::span<const BlockRim> rims, std::size_t width, const Curve& curve,
                  Communicator& servers) {
  DealtLeaves mine(width);
  std::vector<std::vector<BlockRim>> to(static_cast<std::size_t>(servers.size()));
  std::vector<int> wanted;
  for (const BlockRim& rim : rims) {
    std::vector<char> begun(to.size(), 0);
    for (std::size_t leaf = 0; leaf < rim.leaves.cells.size(); ++leaf) {
      curve.servers_of(lattice.box(rim.leaves.cells[leaf]), wanted);
      for (const int server : wanted) {
        std::vector<BlockRim>& of_server = to[static_cast<std::size_t>(server)];
        if (std::exchange(begun[static_cast<std::size_t>(server)], 1) == 0) {
          of_server.push_back({rim.block, {{}, std::vector<std::vector<double>>(width)}});
        }
        LeafSet& set = of_server.back().leaves;
        set.cells.push_back(rim.leaves.cells[leaf]);
        for (std::size_t c = 0; c < width; ++c) set.columns[c].push_back(rim.leaves.at(c, leaf));
      }
    }
  }
  std::vector<MemberMessage> messages;
  for (int server = 0; server < servers.size(); ++server) {
    std::vector<BlockRim>& of_server = to[static_cast<std::size_t>(server)];
    if (server == servers.rank()) {
      for (const BlockRim& rim : of_server) mine.add(rim);
    } else if (!of_server.empty()) {
      messages.push_back({server, to_bytes(of_server)});
    }
    of_server.clear();
  }
  for (const MemberMessage& message : servers.exchange(std::move(messages))) {
    for (const BlockRim& rim : to_rims(message.bytes)) mine.add(rim);
  }
  mine.sort();
  return mine;
}

}  // namespace

Bytes to_bytes(std::span<const BlockRim> rims) {
  ByteWriter out;
  for (const BlockRim& rim : rims) {
    out.put(rim.block);
    out.put(rim.leaves.cells);
    out.put(rim.leaves.columns);
  }
  return out.take();
}

std::vector<BlockRim> to_rims(BytesView bytes) {
  std::vector<BlockRim> rims;
  for (ByteReader in(bytes); !in.at_end();) {
    BlockRim& rim = rims.emplace_back();
    in.get(rim.block);
    in.get(rim.leaves.cells);
    in.get(rim.leaves.columns);
  }
  return rims;
}

Seams join_rims(const Lattice& lattice, std::span<const BlockRim> rims, std::size_t width,
                std::span<const double> values, Communicator& servers) {
  std::vector<TreeCell> cells;
  for (const BlockRim& rim : rims) cells.insert(cells.end(), rim.leaves.cells.begin(), rim.leaves.cells.end());
  Curve curve(lattice, servers);
  curve.divide(cells);
  DealtLeaves all = dealt(lattice, rims, width, curve, servers);
  Seams seams{std::move(all.leaves), {}};
  const auto corners = std::size_t{1} << lattice.dimensions();
  const auto look = [&](const DualCell& dual) {
    bool one_block = true;
    Index3 corner = lattice.domain().lo;  // the point where all leaves meet: the highest of their lower corners
    for (std::size_t n = 0; n < corners; ++n) {
      const auto leaf = static_cast<std::size_t>(dual[n]);
      one_block = one_block && all.blocks[leaf] == all.blocks[static_cast<std::size_t>(dual[0])];
      const Box box = lattice.box(seams.leaves.cells[leaf]);
      for (std::size_t a = 0; a < 3; ++a) corner[a] = std::max(corner[a], box.lo[a]);
    }
    if (!one_block && curve.server_of(corner) == servers.rank()) seams.duals.push_back(dual);
  };
  LeafTree(lattice, seams.leaves).for_each_corner(values, true, look);
  return seams;
}

}  // namespace sidestream
