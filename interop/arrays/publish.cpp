// Blocks of a step, and the values in them.
#include <algorithm>

#include "feed.hpp"

namespace sidestream::arrays {

void Feed::lay(Piece& piece, std::int64_t block, bool copies) {
  const AgreedArray& array = *piece.array;
  const AgreedMesh& mesh = agreed_.meshes[array.mesh];
  const auto axes = static_cast<std::size_t>(mesh.points ? 1 : mesh.dimensions);
  const ArrayView view =
      session_->alloc(array.variable, block, piece.part.type, static_cast<int>(axes) + (array.components > 1 ? 1 : 0));
  const Part from = piece.part;
  piece.part.data = static_cast<const std::byte*>(view.data);
  piece.part.strides.clear();
  if (view.data == nullptr) return;  // the iteration is refused
  const bool flattened = mesh.points && !array.vector && from.count.size() > 1;
  const auto size = static_cast<Index>(size_of(from.type));
  for (std::size_t a = 0; a < axes && !flattened; ++a) {
    piece.part.strides.push_back(view.strides[mesh.points ? 0 : static_cast<std::size_t>(mesh.axis_of[a])] * size);
  }
  if (array.vector) piece.part.strides.push_back(view.strides[3] * size);
  if (copies) copy_values(from, piece.part);
  piece.block = block;
  piece.changeable = true;
}

void Feed::update_blocks(std::size_t number, bool written) {
  const AgreedMesh& mesh = agreed_.meshes[number];
  Blocks& blocks = blocks_[number];
  const bool same = std::equal(blocks.used.begin(), blocks.used.end(), blocks.ids.begin(), blocks.ids.end(),
                               [](const auto& used, const auto& known) { return used.first == known.first; });
  if (same || (blocks.used.empty() && !written)) return;  // without parts the mesh's arrays are absent
  std::map<BoxKey, std::int64_t> ids;
  std::set<std::int64_t> taken;
  for (const auto& [key, pieces] : blocks.used) {
    const auto kept = blocks.ids.find(key);
    if (kept != blocks.ids.end()) taken.insert(ids[key] = kept->second);
  }
  std::int64_t next = ranks_->rank();
  std::vector<Block> all;
  std::vector<BoxKey> fresh;
  for (const auto& [key, pieces] : blocks.used) {
    if (ids.find(key) == ids.end()) {
      while (!taken.insert(next).second) next += ranks_->size();
      ids[key] = next;
      fresh.push_back(key);
    }
    Block block;
    block.id = ids[key];
    block.cells = box_of(key);
    if (mesh.points) {
      const Index count = key[3] - key[0];
      block.space = IndexSpace::list;
      block.cells = list_box(count);
      block.lengths = {count, 0, 0};
    }
    all.push_back(block);
  }
  session_->replace_blocks(mesh.name, all);
  blocks.ids = ids;
  if (!mesh.points || !mesh.coordinates.empty()) return;
  for (const BoxKey& key : fresh) publish_counts(mesh, ids[key], key[3] - key[0]);
}

void Feed::publish_counts(const AgreedMesh& mesh, std::int64_t block, Index count) {
  std::vector<double> places;
  places.reserve(static_cast<std::size_t>(2 * count));
  for (Index n = 0; n < count; ++n) {
    places.push_back(static_cast<double>(n));
    places.push_back(static_cast<double>(block));
  }
  (void)session_->publish(mesh.places(), block, places);
}

void Feed::publish_places() {
  for (const auto& [where, parts] : places_) {
    const AgreedMesh& mesh = agreed_.meshes[where.first];
    if (static_cast<int>(parts.size()) != mesh.dimensions) {
      say("mesh '" + mesh.name + "': a block has not all coordinates; it is absent in that step");
      continue;
    }
    std::vector<std::vector<std::byte>> copies;
    std::vector<const void*> starts;
    for (const auto& [axis, part] : parts) {
      if (!part->strides.empty()) copies.push_back(packed(*part));
      starts.push_back(part->strides.empty() ? part->data : copies.back().data());
    }
    const Index count = parts.begin()->second->count[0], stride = 1;
    ProgramArray each;
    each.type = mesh.place_type;
    each.rank = 1;
    each.extents = &count;
    each.strides = &stride;
    (void)session_->publish_components(mesh.places(), where.second, starts, each);
  }
}

void Feed::say_out_of_place(const Piece& piece) {
  std::string other = "another array";
  for (const Piece& one : pieces_) {
    if (one.placed && one.array->mesh == piece.array->mesh && !intersection(one.box, piece.box).empty()) {
      other = "the array '" + one.part.name + "'";
    }
  }
  say("array '" + piece.part.name + "': a part is left out, since it overlaps one of " + other + " on the mesh '" +
      agreed_.meshes[piece.array->mesh].name + "' and is another box; map the arrays to two meshes");
}

void Feed::settle(Piece& piece) {
  if (piece.placed || piece.part.values() == 0) return;
  if (piece.array == nullptr) piece.array = known(piece.part);  // of the first step
  if (piece.array == nullptr) return;
  if (!piece.array->is_whole(piece.part)) return say_not_whole(piece.part);
  piece.box = agreed_.meshes[piece.array->mesh].place(piece.part, *piece.array);
  place(piece);
  if (!piece.placed) say_out_of_place(piece);
}

void Feed::publish(Piece& piece) {
  if (!piece.placed || piece.part.data == nullptr) return;
  if (piece.block < 0) {
    if (!is_needed(*piece.array)) return;
    const std::int64_t* const block = block_of(*piece.array, piece.box);
    if (block == nullptr) return;  // the blocks were refused, as has been said
    if (piece.array->coordinate >= 0) {
      places_[{piece.array->mesh, *block}][piece.array->coordinate] = &piece.part;
      return;
    }
    lay(piece, *block, true);
    if (piece.block < 0) return;
  }
  guarded([&] { session_->commit(piece.array->variable, piece.block); });
  session_->clear(piece.array->variable, piece.block);
}

void Feed::publish_all(const std::string& written) {
  for (Piece& piece : pieces_) settle(piece);
  for (std::size_t m = 0; m < agreed_.meshes.size(); ++m) {
    guarded([&] { update_blocks(m, m < written.size() && written[m] == '+'); });
  }
  for (Piece& piece : pieces_) {
    guarded([&] { publish(piece); });
  }
  guarded([&] { publish_places(); });
}

}  // namespace sidestream::arrays
