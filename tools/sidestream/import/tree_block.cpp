#include "import/tree_block.hpp"

#include "base/fail.hpp"
#include "storage/database/tree_encoding.hpp"

namespace sidestream::importing {

namespace {

std::uint64_t cell_bytes(const Variable& variable) {
  return size_of(variable.type) * static_cast<std::uint64_t>(variable.components);
}

}  // namespace

bool TreeBlock::is_of_tree(std::int32_t variable) const {
  return schema_.codecs[static_cast<std::size_t>(variable)] == std::vector<std::string>{database::tree_codec};
}

/// Values that a decoder will have too; null: there are none.
const BlockView* TreeBlock::companion(const Variable& variable, database::StoredTree& tree) {
  const auto found = views_.find(variable.id);
  if (found == views_.end() || variable.role != Role::none) return nullptr;
  if (!is_of_tree(variable.id) && !packing_(variable.id).empty()) return nullptr;
  if (cut_levels(tree.tree, cell_bytes(variable), schema_.chunk).chunks() == 0) return nullptr;
  return &trees_.stored(variable, *found->second, tree);
}

void TreeBlock::store_one(const Variable& variable, database::StoredTree& tree, database::Domain& domain) {
  const auto number = static_cast<std::uint32_t>(variable.id);
  const BlockView& own = trees_.stored(variable, *views_.at(variable.id), tree);
  if (variable.role != Role::none) {
    if (!is_of_tree(variable.id) || tree.tree.cells() > database::most_packed_cells) {
      return domain.add(number, variable, own, packing_(variable.id), encoding_);
    }
    const BytesView flags{static_cast<const std::byte*>(own.array.data), static_cast<std::size_t>(tree.tree.cells())};
    return domain.add_made(number, variable, own, database::packed_flags(tree, variable.role, flags));
  }
  const LevelCuts cuts = cut_levels(tree.tree, cell_bytes(variable), schema_.chunk);
  if (cuts.chunks() == 0) return domain.add(number, variable, own, packing_(variable.id), encoding_);
  if (!is_of_tree(variable.id)) {
    return domain.add_levels(number, variable, own, cuts, packing_(variable.id), encoding_);
  }
  std::map<std::int32_t, const BlockView*> there{{variable.id, &own}};  // made before threads ask
  const auto find_view = [&](const Variable& other) {
    const auto found = there.find(other.id);
    return found == there.end() ? nullptr : found->second;
  };
  const FindCompanion find = [&](const std::string& name) -> const Variable* {
    const Variable* const other = schema_.metadata.find_variable(name);
    if (other == nullptr || other->mesh != variable.mesh) return nullptr;
    const BlockView* const values = there.contains(other->id) ? there[other->id] : companion(*other, tree);
    if (values == nullptr) return nullptr;
    there[other->id] = values;
    return other;
  };
  const VariableRelations relations = schema_.relations_of(static_cast<std::size_t>(variable.id));
  domain.add_made(number, variable, own,
                  database::encoded_levels(tree.tree, cuts, variable, relations, find, find_view, encoding_));
}

std::map<std::int32_t, std::uint64_t> TreeBlock::store(database::Domain& domain) {
  const Variable& first = schema_.metadata.variables.at(static_cast<std::size_t>(views_.begin()->first));
  const Mesh& mesh = schema_.metadata.mesh_of(first);
  const BlockView& refined = *views_.at(mesh.array(Role::refined));
  trees_.add(mesh, refined, views_.at(mesh.array(Role::owned)));
  database::StoredTree* const tree = trees_.find(mesh.id, refined.block.id);
  if (tree == nullptr) fail(Code::internal, "import: the flags of block {} are not those of a tree", refined.block.id);
  cells_ = tree->tree.cells();
  std::map<std::int32_t, std::uint64_t> stored;
  for (const auto& [id, view] : views_) {
    store_one(schema_.metadata.variables[static_cast<std::size_t>(id)], *tree, domain);
    stored[id] = domain.pieces().back().row.bytes;
  }
  return stored;
}

}  // namespace sidestream::importing
