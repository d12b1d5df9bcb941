// Publishing of one iteration's pieces.
#include <algorithm>
#include <cstring>
#include <sidestream/error.hpp>

#include "coupling.hpp"

namespace sidestream::catalyst {

namespace {

/// Values in memory that is not the host's: components whose strides differ, or no multiple of a number's size.
std::vector<std::byte> gathered(const FieldPiece& field, Index count) {
  const std::size_t size = size_of(field.components.front().type);
  std::vector<std::byte> all(static_cast<std::size_t>(count) * size * field.components.size());
  std::byte* to = all.data();
  for (Index i = 0; i < count; ++i) {
    for (const Numbers& component : field.components) {
      std::memcpy(to, component.data + (field.first + i) * component.stride, size);
      to += size;
    }
  }
  return all;
}

/// True if all components have one stride, a multiple of a number's size.
bool is_strided(const std::vector<Numbers>& components) {
  const auto size = static_cast<Index>(size_of(components.front().type));
  return std::all_of(components.begin(), components.end(),
                     [&](const Numbers& n) { return n.stride == components.front().stride && n.stride % size == 0; });
}

template <class T>
void publish_list(Session& session, const std::string& name, std::int64_t block, const std::vector<T>& values) {
  (void)session.publish(name, block, values);
}

/// Flags of a piece; zeros where this rank has no ghosts and others have.
std::vector<std::uint8_t> flags_of(const std::vector<std::uint8_t>& flags, Index count) {
  if (!flags.empty()) return flags;
  return std::vector<std::uint8_t>(static_cast<std::size_t>(count), 0);
}

/// The place where a piece's arrays begin, in the mesh's indices on its level.
Index3 array_start(const MeshPiece& piece, const Box& owned) {
  Index3 start{0, 0, 0};
  for (std::size_t a = 0; a < 3; ++a) start[a] = owned.lo[a] - piece.owned.lo[a];
  return start;
}

}  // namespace

std::int64_t Coupling::block_of(const MeshPiece& piece) const {
  if (piece.id) return *piece.id;
  return piece.number * ranks_->size() + ranks_->rank();
}

void Coupling::publish_mesh(const AgreedMesh& mesh, const std::vector<const MeshPiece*>& pieces) {
  std::vector<Block> blocks;
  std::vector<const MeshPiece*> placed;
  for (const MeshPiece* piece : pieces) {
    try {
      Block block;
      block.id = block_of(*piece);
      block.level = piece->level;
      if (piece->is_list()) {
        block.space = IndexSpace::list;
        block.cells = list_box(piece->list_cells);
        block.lengths = {piece->points, static_cast<Index>(piece->lists.connectivity.size()),
                         static_cast<Index>(piece->lists.faces.size())};
      } else {
        block.cells = mesh.place(*piece, ranks_->rank());
      }
      blocks.push_back(block);
      placed.push_back(piece);
    } catch (const Error& error) {
      say({error.what()});
    }
  }
  session_->replace_blocks(mesh.name, blocks);
  for (std::size_t n = 0; n < placed.size(); ++n) {
    try {
      publish_piece(mesh, *placed[n], blocks[n]);
    } catch (const Error& error) {
      say({placed[n]->path + ": " + error.what()});
    }
  }
}

void Coupling::publish_piece(const AgreedMesh& mesh, const MeshPiece& piece, const Block& block) {
  FieldPiece places;
  places.components = piece.coordinates;
  places.centering = piece.is_list() ? Centering::node : nodes_of(piece.dimensions);
  places.first = piece.first_place;
  places.strides = piece.place_strides;
  AgreedField of_places;
  of_places.variable = mesh.name + "_coordinates";
  of_places.centering = places.centering;
  if (!piece.coordinates.empty() && needs(of_places.variable)) publish_field(of_places, piece, places, block);
  if (piece.is_list()) publish_lists(mesh, piece, block.id);  // of meshes that are needed
  for (const FieldPiece& field : piece.fields) {
    const AgreedField* const known = mesh.find(field.name);
    if (known == nullptr) {
      say({field.path + ": the field is left out, since the first execute with a mesh had none of that name"});
    } else if (known->type != field.components.front().type || known->centering != field.centering ||
               known->components != static_cast<std::int32_t>(field.components.size())) {
      say({field.path + ": the field is left out, since its type, association or number of components has changed"});
    } else if (needs(known->variable)) {
      publish_field(*known, piece, field, block);
    }
  }
}

void Coupling::publish_lists(const AgreedMesh& mesh, const MeshPiece& piece, std::int64_t block) {
  Session& s = *session_;
  if (mesh.kind == MeshKind::unstructured) {
    publish_list(s, mesh.name + "_connectivity", block, piece.lists.connectivity);
    publish_list(s, mesh.name + "_offsets", block, piece.lists.offsets);
    publish_list(s, mesh.name + "_types", block, piece.lists.types);
  }
  if (mesh.polyhedra) {
    std::vector<std::int64_t> ends = piece.lists.face_offsets;
    ends.resize(static_cast<std::size_t>(piece.list_cells), -1);
    publish_list(s, mesh.name + "_faces", block, piece.lists.faces);
    publish_list(s, mesh.name + "_face_offsets", block, ends);
  }
  if (mesh.point_ghosts) {
    publish_list(s, mesh.name + "_point_ghosts", block, flags_of(piece.point_ghosts, piece.points));
  }
  if (mesh.cell_ghosts && mesh.kind == MeshKind::unstructured) {
    publish_list(s, mesh.name + "_cell_ghosts", block, flags_of(piece.cell_ghosts, piece.list_cells));
  }
}

void Coupling::publish_field(const AgreedField& field, const MeshPiece& piece, const FieldPiece& values,
                             const Block& block) {
  Session& s = *session_;
  const Numbers& first = values.components.front();
  Index3 extents{piece.count(values.centering), 1, 1};
  int axes = 1;
  if (!piece.is_list()) {
    extents = values.centering == Centering::cell ? piece.cells : piece.box_points();
    axes = piece.dimensions;
    Box allocated;
    allocated.lo = array_start(piece, block.cells);
    for (std::size_t a = 0; a < 3; ++a) allocated.hi[a] = allocated.lo[a] + extents[a];
    s.set_allocated(field.variable, block.id, allocated);
  }
  const auto size = static_cast<Index>(size_of(first.type));
  const bool strided = is_strided(values.components);
  std::vector<std::byte> copy;
  ProgramArray array;
  array.type = first.type;
  array.rank = axes;
  array.extents = extents.data();
  Index3 strides = values.strides;
  array.strides = strides.data();
  if (strided) {
    for (Index& stride : strides) stride *= first.stride / size;
    std::vector<const void*> starts;
    for (const Numbers& n : values.components) starts.push_back(n.data + values.first * n.stride);
    (void)s.publish_components(field.variable, block.id, starts, array);
    return;
  }
  // The copy has the components of a point next to each other, and the points as they lie in the host's arrays.
  copy = gathered(values, first.count - values.first);
  const auto components = static_cast<Index>(values.components.size());
  for (Index& stride : strides) stride *= components;
  std::vector<const void*> starts;
  for (Index c = 0; c < components; ++c) starts.push_back(copy.data() + c * size);
  (void)s.publish_components(field.variable, block.id, starts, array);
}

}  // namespace sidestream::catalyst
