#include "import/tree_block.hpp"

#include "sidestream/kit/base/fail.hpp"
#include "storage/database/tree_storing.hpp"

namespace sidestream::importing {

std::map<std::int32_t, std::uint64_t> TreeBlock::store(database::Domain& domain) {
  const Variable& first = schema_.metadata.variables.at(static_cast<std::size_t>(views_.begin()->first));
  const Mesh& mesh = schema_.metadata.mesh_of(first);
  const BlockView& refined = *views_.at(mesh.array(Role::refined));
  trees_.add(mesh, refined, views_.at(mesh.array(Role::owned)));
  database::StoredTree* const tree = trees_.find(mesh.id, refined.block.id);
  if (tree == nullptr) fail(Code::internal, "import: the flags of block {} are not those of a tree", refined.block.id);
  cells_ = tree->tree.cells();
  const database::TreeValues values{[this](const Variable& variable) {
                                      const auto found = views_.find(variable.id);
                                      return found == views_.end() ? nullptr : found->second;
                                    },
                                    packing_};
  database::TreeStoring storing(schema_, values, encoding_, trees_);
  std::map<std::int32_t, std::uint64_t> stored;
  for (const auto& [id, view] : views_) {
    storing.add(schema_.metadata.variables[static_cast<std::size_t>(id)], *view, *tree, domain);
    stored[id] = domain.pieces().back().row.bytes;
  }
  return stored;
}

}  // namespace sidestream::importing
