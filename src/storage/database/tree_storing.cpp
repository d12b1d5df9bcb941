#include "storage/database/tree_storing.hpp"

#include <map>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::database {

namespace {

/// Values of cells from arrays in memory. Any number of threads may use it.
class CellsInMemory final : public CellValues {
 public:
  explicit CellsInMemory(const FindView& view) : view_(view) {}

  BytesView of(const Variable& variable, std::int32_t component, Index first, Index past, Bytes& scratch) override {
    const BlockView* const view = view_(variable);
    if (view == nullptr) fail(Code::internal, "values of '{}' were there before", variable.name);
    const std::size_t element = size_of(variable.type);
    const std::size_t cell = element * static_cast<std::size_t>(variable.components);
    const auto count = static_cast<std::size_t>(past - first);
    const BytesView part{static_cast<const std::byte*>(view->array.data) + static_cast<std::size_t>(first) * cell,
                         count * cell};
    if (variable.components == 1) return part;
    scratch.resize(count * element);
    take_component(part, element, variable.components, component, scratch);
    return scratch;
  }

 private:
  const FindView& view_;
};

}  // namespace

std::vector<Domain::MadeChunk> packed_flags(const StoredTree& tree, Role role, BytesView flags) {
  Domain::MadeChunk chunk;
  const Flags bytes(reinterpret_cast<const std::uint8_t*>(flags.data()), flags.size());
  chunk.encoded = role == Role::refined ? pack_refined(tree.tree.shape(), bytes, chunk.bytes)
                                        : pack_owned(tree.tree.shape(), tree.tree.refined(), bytes, chunk.bytes);
  if (!chunk.encoded) chunk.bytes.assign(flags.begin(), flags.end());
  std::vector<Domain::MadeChunk> chunks;
  chunks.push_back(std::move(chunk));
  return chunks;
}

std::vector<Domain::MadeChunk> encoded_levels(LinkedTree& tree, const LevelCuts& cuts, const Variable& variable,
                                              const VariableRelations& relations, const FindCompanion& find,
                                              const FindView& view, const Encoding& encoding) {
  const VariableCoding coding = coding_of(variable, relations, tree.shape().dimensions, find);
  if (!encoding.of_trees) fail(Code::internal, "the codec of '{}' was not made", variable.name);
  static_cast<void>(tree.links());
  CellsInMemory cells(view);
  std::vector<Domain::MadeChunk> chunks(cuts.chunks());
  const std::size_t cell = size_of(variable.type) * static_cast<std::size_t>(variable.components);
  encoding.pool->for_each(chunks.size(), [&](std::size_t n) {
    Domain::MadeChunk& made = chunks[n];
    made.bytes = encode_chunk(tree, cells_of(tree, cuts, n), coding, cells, *encoding.of_trees, encoding.pace.hurries);
    made.encoded = true;
    const std::size_t raw = static_cast<std::size_t>(cuts.cells[n + 1] - cuts.cells[n]) * cell;
    if (made.bytes.size() < raw) return;
    const auto* const values = static_cast<const std::byte*>(view(variable)->array.data);
    made.bytes.assign(values + static_cast<std::size_t>(cuts.cells[n]) * cell,
                      values + static_cast<std::size_t>(cuts.cells[n + 1]) * cell);
    made.encoded = false;
  });
  return chunks;
}

namespace {

std::uint64_t cell_bytes(const Variable& variable) {
  return size_of(variable.type) * static_cast<std::uint64_t>(variable.components);
}

}  // namespace

bool TreeStoring::is_of_tree(const Variable& variable) const {
  return schema_.codecs[static_cast<std::size_t>(variable.id)] == std::vector<std::string>{tree_codec};
}

/// Finds values that a decoder will have, too; null if there are none.
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
  std::map<std::int32_t, const BlockView*> there{{variable.id, &own}};  // made before threads use it
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
