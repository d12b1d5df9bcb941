// Codes one chunk of a variable on an octree, component by component.
//
// The codec of values (sidestream/extend/tree_codec.hpp) knows arrays and numbers only. This file prepares them:
//   1. Find the sibling groups of the chunk. Their parents are consecutive refined cells of the level above, so the
//      links of the tree give parents and neighbours as two runs of numbers.
//   2. Renumber both from the first cell of the chunks that hold the parents. A neighbour outside these chunks is
//      unknown, so that a decoder reads no chunks other than those above the coded one.
//   3. Fetch the values of the parents, and of each companion (a variable that relations name) in the same cells. A
//      decoder fetches only what the head of the stream asks for.
//   4. Encode or decode. Each component has its own stream. If there are several, their lengths come first.
#include "storage/trees/chunk_coding.hpp"

#include <algorithm>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

template <class Element>
void take(const std::byte* from, std::size_t count, std::size_t step, std::byte* to) {
  for (std::size_t n = 0; n < count; ++n) std::memcpy(to + n * sizeof(Element), from + n * step, sizeof(Element));
}

template <class Element>
void give(const std::byte* from, std::size_t count, std::size_t step, std::byte* to) {
  for (std::size_t n = 0; n < count; ++n) std::memcpy(to + n * step, from + n * sizeof(Element), sizeof(Element));
}

template <class Move>
void by_size(std::size_t element, Move&& move) {
  if (element == 1) return move(std::uint8_t{});
  if (element == 2) return move(std::uint16_t{});
  if (element == 4) return move(std::uint32_t{});
  move(std::uint64_t{});
}

void put_component(BytesView values, std::size_t element, std::int32_t components, std::int32_t component,
                   std::span<std::byte> out) {
  const std::size_t step = element * static_cast<std::size_t>(components);
  std::byte* const to = out.data() + element * static_cast<std::size_t>(component);
  by_size(element, [&](auto kind) { give<decltype(kind)>(values.data(), values.size() / element, step, to); });
}

/// Gathers the coder's inputs besides the values of one component: links, values of parents, companions.
class Surroundings {
 public:
  Surroundings(LinkedTree& tree, const ChunkCells& cells, const VariableCoding& coding, std::int32_t component,
               CellValues& values)
      : tree_(tree), cells_(cells), coding_(coding), component_(component), values_(values) {
    chunk_.type = coding.variable->type;
    chunk_.groups.dimensions = tree.shape().dimensions;
  }

  /// Gathers the values that `needs` names, or everything if `needs` is null.
  const TreeChunk& gathered(const TreeStreamNeeds* needs) {
    const DeclaredRelations& declared = coding_.declared[static_cast<std::size_t>(component_)];
    if (cells_.level > 0) number_groups(needs == nullptr || needs->beside);
    if (cells_.level > 0 && (needs == nullptr || needs->parents)) {
      chunk_.parents =
          values_.of(*coding_.variable, component_, cells_.above_first, cells_.above_past, parents_scratch_);
    }
    companion_scratch_.resize(2 * declared.companions.size());
    for (std::size_t n = 0; n < declared.companions.size(); ++n) {
      const auto number = static_cast<int>(n);
      const bool needed = needs == nullptr || std::find(needs->companions.begin(), needs->companions.end(), number) !=
                                                  needs->companions.end();
      companions_.push_back(needed ? companion(declared.companions[n], n) : Companion{});
    }
    chunk_.companions = companions_;
    return chunk_;
  }

 private:
  /// Numbers parents and neighbours from the first cell of the level above that the coder knows.
  void number_groups(bool with_neighbours) {
    const LevelLinks& links = tree_.links()[static_cast<std::size_t>(cells_.level - 1)];
    const Index level_first = tree_.starts()[static_cast<std::size_t>(cells_.level)];
    const Index above = cells_.above_first - tree_.starts()[static_cast<std::size_t>(cells_.level - 1)];
    const Index known = cells_.above_past - cells_.above_first;
    const int d = tree_.shape().dimensions;
    const auto first = static_cast<std::size_t>((cells_.first - level_first) >> d);
    const auto past = static_cast<std::size_t>((cells_.past - level_first) >> d);
    for (std::size_t group = first; group < past; ++group) parent_.push_back(links.parent[group] - above);
    const std::size_t sides = 2 * static_cast<std::size_t>(d);
    for (std::size_t n = first * sides; with_neighbours && n < past * sides; ++n) {
      const Index number = links.beside[n] - above;
      beside_.push_back(links.beside[n] >= 0 && number >= 0 && number < known ? number : -1);
    }
    chunk_.groups.parent = parent_;
    chunk_.groups.beside = beside_;
  }

  Companion companion(const NamedComponent& named, std::size_t n) {
    const Variable* const variable = coding_.find(named.variable);
    if (variable == nullptr || named.component >= variable->components) {
      fail(Code::file, "the relations of '{}' name component {} of '{}', which there is not; the file is damaged",
           coding_.variable->name, named.component, named.variable);
    }
    Companion made{variable->type, {}, {}};
    made.values = values_.of(*variable, named.component, cells_.first, cells_.past, companion_scratch_[2 * n]);
    if (cells_.level > 0) {
      made.parents =
          values_.of(*variable, named.component, cells_.above_first, cells_.above_past, companion_scratch_[2 * n + 1]);
    }
    return made;
  }

  LinkedTree& tree_;
  const ChunkCells& cells_;
  const VariableCoding& coding_;
  std::int32_t component_;
  CellValues& values_;
  TreeChunk chunk_;
  std::vector<Index> parent_, beside_;
  std::vector<Companion> companions_;
  std::vector<Bytes> companion_scratch_;
  Bytes parents_scratch_;
};

}  // namespace

VariableCoding coding_of(const Variable& variable, const VariableRelations& relations, int dimensions,
                         FindCompanion find) {
  VariableCoding coding{&variable, {}, std::move(find)};
  for (std::int32_t c = 0; c < variable.components; ++c) {
    coding.declared.push_back(declared_relations(variable, relations, c, dimensions, coding.find));
  }
  return coding;
}

ChunkCells cells_of(LinkedTree& tree, const LevelCuts& cuts, std::size_t chunk) {
  ChunkCells cells{cuts.level[chunk], cuts.cells[chunk], cuts.cells[chunk + 1], 0, 0};
  if (cells.level == 0) return cells;
  const LevelLinks& links = tree.links()[static_cast<std::size_t>(cells.level - 1)];
  const Index level_first = tree.starts()[static_cast<std::size_t>(cells.level)];
  const Index above = tree.starts()[static_cast<std::size_t>(cells.level - 1)];
  const int d = tree.shape().dimensions;
  const auto parent = [&](Index cell) {
    return above + links.parent[static_cast<std::size_t>((cell - level_first) >> d)];
  };
  cells.above_first = cuts.cells[cuts.chunk_of(parent(cells.first))];
  cells.above_past = cuts.cells[cuts.chunk_of(parent(cells.past - 1)) + 1];
  return cells;
}

Bytes encode_chunk(LinkedTree& tree, const ChunkCells& cells, const VariableCoding& coding, CellValues& values,
                   const TreeCodec& codec, bool hurries) {
  const std::int32_t components = coding.variable->components;
  Bytes out;
  if (components > 1) out.resize(4 * static_cast<std::size_t>(components));
  for (std::int32_t c = 0; c < components; ++c) {
    Surroundings around(tree, cells, coding, c, values);
    Bytes scratch;
    const BytesView own = values.of(*coding.variable, c, cells.first, cells.past, scratch);
    const Bytes stream = codec.encode_cells(own, around.gathered(nullptr),
                                            coding.declared[static_cast<std::size_t>(c)].relations, hurries);
    if (components == 1) return stream;
    const auto length = static_cast<std::uint32_t>(stream.size());
    std::memcpy(out.data() + 4 * static_cast<std::size_t>(c), &length, sizeof length);
    out.insert(out.end(), stream.begin(), stream.end());
  }
  return out;
}

void decode_chunk(BytesView stream, LinkedTree& tree, const ChunkCells& cells, const VariableCoding& coding,
                  CellValues& values, const TreeCodec& codec, std::span<std::byte> out) {
  const std::int32_t components = coding.variable->components;
  const std::size_t element = size_of(coding.variable->type),
                    heads = components > 1 ? 4 * static_cast<std::size_t>(components) : 0;
  if (stream.size() < heads)
    fail(Code::file, "a chunk of '{}' that is too short; it is damaged", coding.variable->name);
  std::size_t at = heads;
  Bytes one(components > 1 ? out.size() / static_cast<std::size_t>(components) : 0);
  for (std::int32_t c = 0; c < components; ++c) {
    std::uint32_t length = static_cast<std::uint32_t>(stream.size());
    if (components > 1) std::memcpy(&length, stream.data() + 4 * static_cast<std::size_t>(c), sizeof length);
    if (length > stream.size() - at)
      fail(Code::file, "a chunk of '{}' whose lengths make no sense; it is damaged", coding.variable->name);
    const BytesView part = stream.subspan(at, length);
    at += length;
    const TreeStreamNeeds needs = codec.needs(part);
    const DeclaredRelations& declared = coding.declared[static_cast<std::size_t>(c)];
    const auto unknown = [&](int n) { return n < 0 || n >= static_cast<int>(declared.companions.size()); };
    if (std::any_of(needs.companions.begin(), needs.companions.end(), unknown) || (cells.level == 0 && needs.parents)) {
      fail(Code::file, "a chunk of '{}' needs values that there are not; it is damaged", coding.variable->name);
    }
    Surroundings around(tree, cells, coding, c, values);
    codec.decode_cells(part, around.gathered(&needs), declared.relations, components == 1 ? out : std::span(one));
    if (components > 1) put_component(one, element, components, c, out);
  }
  if (at != stream.size())
    fail(Code::file, "a chunk of '{}' with more than its values; it is damaged", coding.variable->name);
}

void take_component(BytesView values, std::size_t element, std::int32_t components, std::int32_t component,
                    std::span<std::byte> out) {
  const std::size_t step = element * static_cast<std::size_t>(components);
  const std::byte* const from = values.data() + element * static_cast<std::size_t>(component);
  by_size(element, [&](auto kind) { take<decltype(kind)>(from, out.size() / element, step, out.data()); });
}

}  // namespace sidestream
