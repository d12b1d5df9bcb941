#include <array>
#include <cstring>

#include "amr_codec/values/value_coder.hpp"
#include "storage/trees/linked_tree.hpp"
#include "targets.hpp"

namespace sidestream::fuzz {

namespace {

/// A level of a small tree, with all companions that a stream may ask for.
struct Beside {
  explicit Beside(int dimensions) {
    TreeDescent descent(dimensions, {2, 1, 1});
    (void)descent.descend(std::array<std::uint8_t, 2>{1, 1});
    std::vector<std::uint8_t> refined(static_cast<std::size_t>(descent.cells()), 1);
    refined[1] = 0;
    parents = refined.size();
    links = descent.descend(refined);
    cells = static_cast<std::size_t>(descent.cells());
    for (std::size_t n = 0; n < 8 * (cells + parents); ++n) numbers.push_back(static_cast<double>(n * n % 97) / 8);
  }
  std::size_t parents, cells;
  LevelLinks links;
  std::vector<double> numbers;
};

Relations relations_of(unsigned choice, int dimensions) {
  Relations relations;
  relations.companions = 6;
  if ((choice & 1) != 0) relations.mean = MeanRelation{2, 0, {{0.5, {1, 2}, {3}}}};
  if ((choice & 2) != 0) relations.closure = {{1, {0}, {}}, {0.5, {1, 1}, {2}}};
  if ((choice & 4) != 0) relations.factor = 0.5;
  if ((choice & 8) != 0) {
    const bool divergence = (choice & 16) != 0;
    std::vector<int> others;
    for (int n = 0; divergence && n < 2 * (dimensions - 1); ++n) others.push_back(n);
    relations.face = FaceRelation{dimensions - 1, (choice & 32) != 0, (choice & 64) != 0 ? 5 : -1, others, {}};
  }
  return relations;
}

}  // namespace

/// The first byte chooses type and dimensions, the second one the relations.
void run_tree_values(BytesView input) {
  if (input.size() < 2) return;
  static const std::array<Beside, 3> all{Beside(1), Beside(2), Beside(3)};
  const auto choice = static_cast<unsigned>(input[0]);
  const int dimensions = 1 + static_cast<int>(choice / 16 % 3);
  const Beside& beside = all[static_cast<std::size_t>(dimensions - 1)];
  TreeChunk chunk;
  chunk.type = static_cast<Type>(choice % 16 % type_count);
  chunk.groups = {dimensions, beside.links.parent, beside.links.beside};
  const BytesView numbers = std::as_bytes(std::span(beside.numbers));
  chunk.parents = numbers.first(beside.parents * size_of(chunk.type));
  std::vector<Companion> companions;
  for (std::size_t n = 0; n < 6; ++n) {
    const std::size_t at = 8 * n * beside.cells;
    companions.push_back({Type::float64, numbers.subspan(at, 8 * beside.cells),
                          numbers.subspan(at + 8 * beside.cells, 8 * beside.parents)});
  }
  chunk.companions = companions;
  const Relations relations = relations_of(static_cast<unsigned>(input[1]), dimensions);
  const BytesView stream = input.subspan(2);
  Bytes values(beside.cells * size_of(chunk.type));
  refused_or_read([&] { (void)tree_stream_needs(stream); });
  refused_or_read([&] { decode_tree_values(stream, chunk, relations, values); });
  // These bytes must come back after encoding.
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = stream.empty() ? std::byte{0} : stream[n % stream.size()];
  Bytes back(values.size());
  decode_tree_values(encode_tree_values(values, chunk, relations), chunk, relations, back);
  if (back != values) throw std::logic_error("a coder of a tree's values has lost something");
}

}  // namespace sidestream::fuzz
