// Particles: the same set however they are distributed among blocks, in a different order in each. If the mesh has
// flags for ghosts, there are also ghosts with wrong values.
#include <algorithm>

#include "conformance/sample.hpp"
#include "data/mesh_arrays.hpp"

namespace sidestream::conformance {

namespace {

constexpr Index particles = 300;

/// One entry of a block's list.
struct Entry {
  Index particle;
  bool ghost;
};

/// Hash of an integer.
std::uint64_t mixed(std::uint64_t n) {
  n = (n ^ (n >> 31)) * 0x7fb5d329728ea185;
  n = (n ^ (n >> 27)) * 0x81dadef4bc2dd44d;
  return n ^ (n >> 33);
}

Index blocks_of(const Case& how) { return how.parts[0] * how.parts[1] * how.parts[2]; }

/// The particles in a block, by its id.
std::vector<Entry> entries_of(const Mesh& mesh, const Case& how, Index id) {
  const Index blocks = blocks_of(how), part = how.backwards ? blocks - 1 - id : id;
  const bool flagged = how.ghosts > 0 && mesh.array(Role::point_ghosts) >= 0;
  std::vector<Entry> entries;
  for (Index n = 0; n < particles; ++n) {
    const auto home = static_cast<Index>(mixed(static_cast<std::uint64_t>(n)) % static_cast<std::uint64_t>(blocks));
    if (home == part) entries.push_back({n, false});
    if (flagged && n % 3 == 0 && (home + 1) % blocks == part) entries.push_back({n, true});
  }
  if (how.backwards) std::reverse(entries.begin(), entries.end());
  return entries;
}

/// A lattice position for each particle, so that values differ.
Index3 place_of(Index particle) { return {particle % 7, particle / 7 % 7, particle / 49}; }

template <class T>
T value_of(const Variable& variable, const Entry& entry, int component, bool odd) {
  switch (variable.role) {
    case Role::point_ids:
      return static_cast<T>(entry.particle);
    case Role::point_ghosts:
      return static_cast<T>(entry.ghost);
    case Role::coordinates: {
      if (odd && entry.particle % 5 == 0) return value_at<T>(variable, place_of(entry.particle), component, true);
      const std::uint64_t number = mixed(static_cast<std::uint64_t>(entry.particle * 3 + component) + 12345);
      return static_cast<T>(static_cast<double>(number % 100003) / 25000);  // from 0 to 4
    }
    default:
      if (entry.ghost) return static_cast<T>(117);
      return value_at<T>(variable, place_of(entry.particle), component, odd);
  }
}

}  // namespace

std::vector<Block> point_blocks(const Mesh& mesh, const Case& how) {
  std::vector<Block> blocks;
  for (Index id = 0; id < blocks_of(how); ++id) {
    Block& block = blocks.emplace_back();
    const auto length = static_cast<Index>(entries_of(mesh, how, id).size());
    block.id = id;
    block.client = static_cast<std::int32_t>(id);
    block.mesh = mesh.id;
    block.space = IndexSpace::list;
    block.cells = list_box(length);
    block.lengths = {length, 0, 0};
  }
  return blocks;
}

void Views::add_points(const Metadata& metadata, const Variable& variable, const Case& how) {
  const Mesh& mesh = metadata.mesh_of(variable);
  for (const Block& block : point_blocks(mesh, how)) {
    if (block.id % servers_ != server_) continue;
    const std::vector<Entry> entries = entries_of(mesh, how, block.id);
    BlockView view;
    view.block = block;
    view.points = variable.points(block);
    view.owned = {view.points};
    view.array.type = variable.type;
    view.array.box = view.points;
    view.array.components = variable.components;
    view.array.strides = packed_strides(view.points, variable.components, variable.order);
    Bytes& bytes = memory_.emplace_back(packed_bytes(view.points, variable.components, variable.type));
    view.array.data = bytes.data();
    with_type(variable.type, [&](auto zero) {
      using T = decltype(zero);
      for (Index n = 0; n < view.points.hi[0]; ++n) {
        for (int c = 0; c < variable.components; ++c) {
          *const_cast<T*>(view.array.at<T>(n, 0, 0, c)) =
              value_of<T>(variable, entries[static_cast<std::size_t>(n)], c, how.odd_values);
        }
      }
    });
    views_[static_cast<std::size_t>(variable.id)].push_back(std::move(view));
  }
}

void Views::flag_ghosts(const Metadata& metadata) {
  for (const Variable& variable : metadata.variables) {
    const std::int32_t flags = metadata.mesh_of(variable).array(Role::point_ghosts);
    if (flags < 0) continue;
    std::vector<BlockView>& views = views_[static_cast<std::size_t>(variable.id)];
    const std::vector<BlockView>& of_flags = views_[static_cast<std::size_t>(flags)];
    for (std::size_t n = 0; n < std::min(views.size(), of_flags.size()); ++n) views[n].ghosts = of_flags[n].array;
  }
}

}  // namespace sidestream::conformance
