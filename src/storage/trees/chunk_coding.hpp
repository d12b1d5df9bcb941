// Codes one chunk of a variable on a tree, with the values of parents and companions that predictions need.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/relation_text.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/tree_codec.hpp"
#include "storage/trees/linked_tree.hpp"

namespace sidestream {

/// A component of another variable.
struct NamedComponent {
  std::string variable;
  std::int32_t component = 0;
  bool operator==(const NamedComponent& other) const noexcept {
    return variable == other.variable && component == other.component;
  }
};

struct DeclaredRelations {
  Relations relations;
  std::vector<NamedComponent> companions;  ///< in the order in which `relations` numbers them
};

/// Finds a variable whose values both the coder and its decoders have; null if there is none.
using FindCompanion = std::function<const Variable*(const std::string& name)>;

/// The relations of one component of a variable on a mesh of `dimensions`. Omits `parent`, `equals` or the face if it
/// names a variable that `find` does not return. Throws Error(configuration) if a text is invalid.
[[nodiscard]] DeclaredRelations declared_relations(const Variable& variable, const VariableRelations& relations,
                                                   std::int32_t component, int dimensions, const FindCompanion& find);

/// Provides values in the cells of one tree.
class CellValues {
 public:
  virtual ~CellValues() = default;
  /// One component in the cells [first, past), which must all be available. The view refers to existing memory or to
  /// `scratch`.
  [[nodiscard]] virtual BytesView of(const Variable& variable, std::int32_t component, Index first, Index past,
                                     Bytes& scratch) = 0;
};

/// The coding of a variable on a tree, component by component.
struct VariableCoding {
  const Variable* variable = nullptr;
  std::vector<DeclaredRelations> declared{};
  FindCompanion find{};
};
[[nodiscard]] VariableCoding coding_of(const Variable& variable, const VariableRelations& relations, int dimensions,
                                       FindCompanion find);

/// The cells of a chunk, and the known cells of the level above: those of the chunks that hold the parents.
struct ChunkCells {
  std::int32_t level = 0;
  Index first = 0, past = 0;
  Index above_first = 0, above_past = 0;
};
[[nodiscard]] ChunkCells cells_of(LinkedTree& tree, const LevelCuts& cuts, std::size_t chunk);

/// Returns the streams of the components in sequence; if there are several, their lengths (u32 each) come first. The
/// links of `tree` must have been made before. `hurries`: as TreeCodec::encode_cells. Any number of threads may call
/// this if `values` allows it.
[[nodiscard]] Bytes encode_chunk(LinkedTree& tree, const ChunkCells& cells, const VariableCoding& coding,
                                 CellValues& values, const TreeCodec& codec, bool hurries);
/// Fills `out` with the values of the chunk's cells, components interleaved. Asks `values` only for what the streams
/// need. Throws Error(file) if `stream` is damaged.
void decode_chunk(BytesView stream, LinkedTree& tree, const ChunkCells& cells, const VariableCoding& coding,
                  CellValues& values, const TreeCodec& codec, std::span<std::byte> out);

/// Copies one component of interleaved, contiguous values to `out`.
void take_component(BytesView values, std::size_t element, std::int32_t components, std::int32_t component,
                    std::span<std::byte> out);

}  // namespace sidestream
