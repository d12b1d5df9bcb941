#include "import/tree_block.hpp"

#include "base/fail.hpp"

namespace sidestream::importing {

std::map<std::int32_t, std::uint64_t> TreeBlock::store(database::Domain& domain) {
  const Variable& first = schema_.metadata.variables.at(static_cast<std::size_t>(views_.begin()->first));
  const Mesh& mesh = schema_.metadata.mesh_of(first);
  const BlockView& refined = *views_.at(mesh.array(Role::refined));
  trees_.add(mesh, refined, views_.at(mesh.array(Role::owned)));
  database::StoredTree* const tree = trees_.find(mesh.id, refined.block.id);
  if (tree == nullptr) fail(Code::internal, "import: the flags of block {} are not those of a tree", refined.block.id);
  cells_ = tree->tree.cells();
  const auto others = [&](const Variable& other) -> std::optional<BlockView> {
    const auto found = views_.find(other.id);
    return found == views_.end() ? std::nullopt : std::optional(*found->second);
  };
  std::map<std::int32_t, std::uint64_t> stored;
  for (const auto& [id, view] : views_) {
    storing_.add(schema_.metadata.variables[static_cast<std::size_t>(id)], *view, *tree, others, domain);
    stored[id] = domain.pieces().back().row.bytes;
  }
  return stored;
}

}  // namespace sidestream::importing
