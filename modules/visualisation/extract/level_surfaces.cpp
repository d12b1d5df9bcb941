#include "visualisation/extract/level_surfaces.hpp"

#include <algorithm>

#include "visualisation/contour/contour_cells.hpp"
#include "visualisation/contour/surface.hpp"
#include "visualisation/mesh/amr/block_leaves.hpp"
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

}  // namespace sidestream
