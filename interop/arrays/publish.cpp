// Publishing of one step's parts.
#include <algorithm>

#include "feed.hpp"

namespace sidestream::arrays {

namespace {

/// Strides in values; empty if one is no multiple of a value's size, or the address is not: members of types that are
/// packed.
std::vector<Index> strides_of(const Part& part) {
  const auto size = static_cast<Index>(size_of(part.type));
  if (reinterpret_cast<std::uintptr_t>(part.data) % size_of(part.type) != 0) return {};
  std::vector<Index> strides(part.count.size(), 1);
  for (std::size_t a = strides.size(); a-- > 1 && part.strides.empty();) strides[a - 1] = strides[a] * part.count[a];
  for (std::size_t a = 0; a < part.strides.size(); ++a) {
    if (part.strides[a] % size != 0) return {};
    strides[a] = part.strides[a] / size;
  }
  return strides;
}

}  // namespace

void Feed::publish(const AgreedArray& array, const Part& part, std::int64_t block) {
  const AgreedMesh& mesh = agreed_.meshes[array.mesh];
  const std::vector<Index> strides = strides_of(part);
  const bool flattened = mesh.points && !array.vector && part.count.size() > 1;
  if (strides.empty() || (flattened && !part.strides.empty())) {
    const std::vector<std::byte> copy = packed(part);
    Part contiguous = part;
    contiguous.data = copy.data();
    contiguous.strides.clear();
    return publish(array, contiguous, block);
  }
  std::array<Index, 4> extents{1, 1, 1, 1}, steps{1, 1, 1, 1};
  const int axes = mesh.points ? 1 : mesh.dimensions;
  if (mesh.points && !array.vector) {
    extents[0] = static_cast<Index>(part.values());
    steps[0] = strides.back();
  } else {
    for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) {
      const auto axis = mesh.points ? 0 : static_cast<std::size_t>(mesh.axis_of[a]);
      extents[axis] = part.count[a];
      steps[axis] = strides[a];
    }
  }
  ProgramArray values;
  values.type = part.type;
  values.data = part.data;
  values.rank = axes + (array.vector ? 1 : 0);
  values.extents = extents.data();
  values.strides = steps.data();
  if (array.vector) {
    extents[static_cast<std::size_t>(axes)] = array.components;
    steps[static_cast<std::size_t>(axes)] = strides.back();
  }
  (void)session_->publish(array.variable, block, values);
}

void Feed::update_blocks(std::size_t number, bool written) {
  const AgreedMesh& mesh = agreed_.meshes[number];
  Blocks& blocks = blocks_[number];
  const bool same = std::equal(blocks.used.begin(), blocks.used.end(), blocks.ids.begin(), blocks.ids.end(),
                               [](const BoxKey& used, const auto& known) { return used == known.first; });
  if (same || (blocks.used.empty() && !written)) return;  // without parts the mesh's arrays are absent
  std::map<BoxKey, std::int64_t> ids;
  std::set<std::int64_t> taken;
  for (const BoxKey& key : blocks.used) {
    const auto kept = blocks.ids.find(key);
    if (kept != blocks.ids.end()) taken.insert(ids[key] = kept->second);
  }
  std::int64_t next = ranks_->rank();
  std::vector<Block> all;
  std::vector<BoxKey> fresh;
  for (const BoxKey& key : blocks.used) {
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

void Feed::publish_waiting(const std::string& written) {
  std::vector<std::pair<const AgreedArray*, std::pair<const Part*, BoxKey>>> placed;
  for (const Waiting& waiting : waiting_) {
    Box box;
    if (waiting.part.values() == 0) continue;
    const AgreedArray* const array = known(waiting.part, box);
    if (array == nullptr || !use(waiting.part, *array, box)) continue;
    if (is_needed(*array)) placed.push_back({array, {&waiting.part, key_of(box)}});
  }
  for (std::size_t m = 0; m < agreed_.meshes.size(); ++m) {
    guarded([&] { update_blocks(m, m < written.size() && written[m] == '+'); });
  }
  for (const auto& [array, where] : placed) {
    const auto& [part, key] = where;
    const auto block = blocks_[array->mesh].ids.find(key);
    if (block == blocks_[array->mesh].ids.end()) continue;  // the blocks were refused, as has been said
    if (array->coordinate >= 0) {
      places_[{array->mesh, block->second}][array->coordinate] = part;
    } else {
      guarded([&, array = array, part = part] { publish(*array, *part, block->second); });
    }
  }
  guarded([&] { publish_places(); });
}

}  // namespace sidestream::arrays
