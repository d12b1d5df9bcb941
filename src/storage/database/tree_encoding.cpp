#include "storage/database/tree_encoding.hpp"

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::database {

namespace {

/// Values of cells from arrays in memory. Any number of threads may use it.
class CellsInMemory final : public CellValues {
 public:
  explicit CellsInMemory(const FindView& view) : view_(view) {}

  BytesView of(const Variable& variable, std::int32_t component, Index first, Index past, Bytes& room) override {
    const BlockView* const view = view_(variable);
    if (view == nullptr) fail(Code::internal, "values of '{}' were there before", variable.name);
    const std::size_t element = size_of(variable.type);
    const std::size_t cell = element * static_cast<std::size_t>(variable.components);
    const auto count = static_cast<std::size_t>(past - first);
    const BytesView part{static_cast<const std::byte*>(view->array.data) + static_cast<std::size_t>(first) * cell,
                         count * cell};
    if (variable.components == 1) return part;
    room.resize(count * element);
    take_component(part, element, variable.components, component, room);
    return room;
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

}  // namespace sidestream::database
