#include "storage/database/tree_storing.hpp"

#include <map>

#include "storage/database/tree_encoding.hpp"

namespace sidestream::database {

namespace {

std::uint64_t cell_bytes(const Variable& variable) {
  return size_of(variable.type) * static_cast<std::uint64_t>(variable.components);
}

}  // namespace

bool TreeStoring::is_of_tree(const Variable& variable) const {
  return schema_.codecs[static_cast<std::size_t>(variable.id)] == std::vector<std::string>{tree_codec};
}

/// Values that a decoder will have, too; null: there are none.
const BlockView* TreeStoring::companion(const Variable& variable, StoredTree& tree) {
  if (variable.role != Role::none || (!is_of_tree(variable) && !values_.packing(variable.id).empty())) return nullptr;
  const BlockView* const view = values_.published(variable);
  if (view == nullptr || cut_levels(tree.tree, cell_bytes(variable), schema_.chunk).chunks() == 0) return nullptr;
  return &trees_.stored(variable, *view, tree);
}

void TreeStoring::add(const Variable& variable, const BlockView& view, StoredTree& tree, Domain& domain) {
  const auto number = static_cast<std::uint32_t>(variable.id);
  const BlockView& own = trees_.stored(variable, view, tree);
  if (variable.role != Role::none) return add_flags(variable, own, tree, domain);
  const LevelCuts cuts = cut_levels(tree.tree, cell_bytes(variable), schema_.chunk);
  if (cuts.chunks() == 0) return domain.add(number, variable, own, values_.packing(variable.id), encoding_);
  if (is_of_tree(variable)) return add_coded(variable, own, cuts, tree, domain);
  domain.add_levels(number, variable, own, cuts, values_.packing(variable.id), encoding_);
}

void TreeStoring::add_flags(const Variable& variable, const BlockView& own, const StoredTree& tree, Domain& domain) {
  const auto number = static_cast<std::uint32_t>(variable.id);
  if (!is_of_tree(variable) || tree.tree.cells() > most_packed_cells) {
    return domain.add(number, variable, own, values_.packing(variable.id), encoding_);
  }
  const BytesView flags{static_cast<const std::byte*>(own.array.data), static_cast<std::size_t>(tree.tree.cells())};
  domain.add_made(number, variable, own, packed_flags(tree, variable.role, flags));
}

void TreeStoring::add_coded(const Variable& variable, const BlockView& own, const LevelCuts& cuts, StoredTree& tree,
                            Domain& domain) {
  std::map<std::int32_t, const BlockView*> there{{variable.id, &own}};  // made before threads ask
  const auto find_view = [&](const Variable& other) {
    const auto found = there.find(other.id);
    return found == there.end() ? nullptr : found->second;
  };
  const FindCompanion find = [&](const std::string& name) -> const Variable* {
    const Variable* const other = schema_.metadata.find_variable(name);
    if (other == nullptr || other->mesh != variable.mesh) return nullptr;
    if (there.contains(other->id)) return other;
    const BlockView* const values = companion(*other, tree);
    if (values == nullptr) return nullptr;
    there.emplace(other->id, values);
    return other;
  };
  const VariableRelations relations = schema_.relations_of(static_cast<std::size_t>(variable.id));
  domain.add_made(static_cast<std::uint32_t>(variable.id), variable, own,
                  encoded_levels(tree.tree, cuts, variable, relations, find, find_view, encoding_));
}

}  // namespace sidestream::database
