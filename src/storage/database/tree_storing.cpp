#include "storage/database/tree_storing.hpp"

#include <map>
#include <string>
#include <vector>

#include "storage/database/tree_encoding.hpp"

namespace sidestream::database {

bool TreeStoring::is_of_tree(const Variable& variable) const {
  return schema_.codecs[static_cast<std::size_t>(variable.id)] == std::vector<std::string>{tree_codec};
}

LevelCuts TreeStoring::cuts_of(const Variable& variable, StoredTree& tree) const {
  const std::uint64_t cell = size_of(variable.type) * static_cast<std::uint64_t>(variable.components);
  return cut_levels(tree.tree, cell, schema_.chunk);
}

const BlockView* TreeStoring::companion(const Variable& variable, StoredTree& tree, const ViewOf& others) const {
  if (variable.role != Role::none) return nullptr;
  if (!is_of_tree(variable) && !packing_(variable.id).empty()) return nullptr;
  const std::optional<BlockView> view = others(variable);
  if (!view || cuts_of(variable, tree).chunks() == 0) return nullptr;
  return &trees_.stored(variable, *view, tree);
}

std::vector<Domain::MadeChunk> TreeStoring::encoded(const Variable& variable, const BlockView& own,
                                                    const LevelCuts& cuts, StoredTree& tree,
                                                    const ViewOf& others) const {
  std::map<std::int32_t, const BlockView*> there{{variable.id, &own}};  // made before threads ask
  const auto find_view = [&](const Variable& other) {
    const auto found = there.find(other.id);
    return found == there.end() ? nullptr : found->second;
  };
  const FindCompanion find = [&](const std::string& name) -> const Variable* {
    const Variable* const other = schema_.metadata.find_variable(name);
    if (other == nullptr || other->mesh != variable.mesh) return nullptr;
    if (there.contains(other->id)) return other;
    const BlockView* const values = companion(*other, tree, others);
    if (values == nullptr) return nullptr;
    there.emplace(other->id, values);
    return other;
  };
  const VariableRelations relations = schema_.relations_of(static_cast<std::size_t>(variable.id));
  return encoded_levels(tree.tree, cuts, variable, relations, find, find_view, encoding_);
}

void TreeStoring::add(const Variable& variable, const BlockView& view, StoredTree& tree, const ViewOf& others,
                      Domain& domain) const {
  const auto number = static_cast<std::uint32_t>(variable.id);
  const BlockView& own = trees_.stored(variable, view, tree);
  if (variable.role != Role::none) {
    if (!is_of_tree(variable) || tree.tree.cells() > most_packed_cells) {
      return domain.add(number, variable, own, packing_(variable.id), encoding_);
    }
    const BytesView flags{static_cast<const std::byte*>(own.array.data), static_cast<std::size_t>(tree.tree.cells())};
    return domain.add_made(number, variable, own, packed_flags(tree, variable.role, flags));
  }
  const LevelCuts cuts = cuts_of(variable, tree);
  if (cuts.chunks() == 0) return domain.add(number, variable, own, packing_(variable.id), encoding_);
  if (!is_of_tree(variable)) return domain.add_levels(number, variable, own, cuts, packing_(variable.id), encoding_);
  domain.add_made(number, variable, own, encoded(variable, own, cuts, tree, others));
}

}  // namespace sidestream::database
