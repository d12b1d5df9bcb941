// One chunk of a variable on a tree through the coder of values, with what lies above and beside it.
#pragma once

#include <span>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "storage/trees/declared.hpp"
#include "storage/trees/linked_tree.hpp"
#include "storage/trees/values/value_coder.hpp"

namespace sidestream {

/// Where values in cells of one tree are to be had.
class CellValues {
 public:
  virtual ~CellValues() = default;
  /// A component in the cells [first, past), of which it has all: a view of what is there, or of `room`.
  [[nodiscard]] virtual BytesView of(const Variable& variable, std::int32_t component, Index first, Index past,
                                     Bytes& room) = 0;
};

/// How a variable on a tree is coded; by component.
struct VariableCoding {
  const Variable* variable = nullptr;
  std::vector<DeclaredRelations> declared{};
  FindCompanion find{};
};
[[nodiscard]] VariableCoding coding_of(const Variable& variable, const VariableRelations& relations, int dimensions,
                                       FindCompanion find);

/// Which cells a chunk has, and which of the level above a coder knows of: those of the chunks with the parents.
struct ChunkCells {
  std::int32_t level = 0;
  Index first = 0, past = 0;
  Index above_first = 0, above_past = 0;
};
[[nodiscard]] ChunkCells cells_of(LinkedTree& tree, const LevelCuts& cuts, std::size_t chunk);

/// Streams of the components one after the other; of several the lengths before them, u32 each. `tree` has made its
/// links: then any number of threads may call it, as far as `values` allows.
[[nodiscard]] Bytes encode_chunk(LinkedTree& tree, const ChunkCells& cells, const VariableCoding& coding,
                                 CellValues& values, const TreeCoding& how);
/// Fills `out` with the values of the chunk's cells, components next to each other. Asks `values` for what the streams
/// need and nothing else. Throws Error(file) where `stream` is damaged.
void decode_chunk(BytesView stream, LinkedTree& tree, const ChunkCells& cells, const VariableCoding& coding,
                  CellValues& values, std::span<std::byte> out);

/// Component `component` of values with `components` next to each other, gapless, into `out`.
void take_component(BytesView values, std::size_t element, std::int32_t components, std::int32_t component,
                    std::span<std::byte> out);

}  // namespace sidestream
