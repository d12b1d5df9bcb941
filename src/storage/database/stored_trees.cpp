#include "storage/database/stored_trees.hpp"

#include <cstring>

#include "sidestream/error.hpp"
#include "sidestream/kit/data/box_values.hpp"

namespace sidestream::database {

namespace {

std::vector<std::uint8_t> flags_of(const BlockView& view) {
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(view.points.count()));
  pack(view.array, view.points, Order::column, std::as_writable_bytes(std::span(flags)));
  return flags;
}

}  // namespace

void StoredTrees::clear() {
  trees_.clear();
  views_.clear();
  values_.clear();
}

void StoredTrees::add(const Mesh& mesh, const BlockView& refined, const BlockView* owned) {
  const Key key{refined.block.mesh, refined.block.id};
  std::vector<std::uint8_t> flags = flags_of(refined), own;
  if (owned != nullptr && owned->points == refined.points) own = flags_of(*owned);
  const TreeShape shape = *tree_shape(mesh);
  const auto starts = tree_starts(shape, flags);
  if (!starts) return;
  const auto published = static_cast<Index>(flags.size());
  std::vector<CellRun> kept;
  if (prunes_ && !own.empty()) {
    PrunedTree less = pruned(shape, flags, own, *starts);
    if (less.cells() < published) {
      kept = std::move(less.kept);
      flags = std::move(less.refined);
      own = std::move(less.owned);
    }
  }
  trees_.emplace(key, StoredTree{LinkedTree(mesh, std::move(flags)), std::move(own), std::move(kept), published});
}

StoredTree* StoredTrees::find(std::int32_t mesh, std::int64_t block) {
  const auto found = trees_.find({mesh, block});
  return found == trees_.end() ? nullptr : &found->second;
}

const BlockView& StoredTrees::stored(const Variable& variable, const BlockView& view, const StoredTree& tree) {
  const Key key{variable.id, view.block.id};
  const auto known = views_.find(key);
  if (known != views_.end()) return known->second;
  BlockView made = view;
  const bool gapless = is_gapless(view.array, view.points, variable.order);
  if (!gapless) {
    std::vector<std::byte>& values =
        values_.emplace_back(packed_bytes(view.points, variable.components, variable.type));
    pack(view.array, view.points, variable.order, values);
    made.array.data = values.data();
    made.array.box = view.points;
    made.array.strides = packed_strides(view.points, variable.components, variable.order);
  }
  if (!tree.kept.empty() && variable.role != Role::none) {
    made.block.cells = made.points = made.array.box = list_box(tree.tree.cells());
    made.array.data = variable.role == Role::refined ? tree.tree.refined().data() : tree.owned.data();
    made.array.strides = packed_strides(made.points, 1, variable.order);
    made.owned.clear();
  } else if (!tree.kept.empty()) {
    const Box box = list_box(tree.tree.cells());
    const std::size_t cell = size_of(variable.type) * static_cast<std::size_t>(variable.components);
    std::vector<std::byte>& values = values_.emplace_back(packed_bytes(box, variable.components, variable.type));
    const auto* const from =
        static_cast<const std::byte*>(made.array.data) - static_cast<std::size_t>(made.array.box.lo[0]) * cell;
    std::byte* to = values.data();
    for (const CellRun& run : tree.kept) {
      const std::size_t bytes = static_cast<std::size_t>(run.count) * cell;
      std::memcpy(to, from + static_cast<std::size_t>(run.first) * cell, bytes);
      to += bytes;
    }
    made.block.cells = made.points = box;
    made.array.data = values.data();
    made.array.box = box;
    made.array.strides = packed_strides(box, variable.components, variable.order);
    made.owned.clear();
  }
  return views_.emplace(key, std::move(made)).first->second;
}

}  // namespace sidestream::database
