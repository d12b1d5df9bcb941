#include "chunks.hpp"

#include <algorithm>

namespace benchmark {

using namespace sidestream;

namespace {

BytesView part(const std::vector<double>& values, std::size_t first, std::size_t count) {
  return std::as_bytes(std::span(values).subspan(first, count));
}

BytesView whole(const std::vector<double>& values) { return part(values, 0, values.size()); }

void each_variable(const TreeData& tree, std::size_t level, const SiblingGroups& groups, std::size_t first,
                   std::size_t count, const std::function<void(const Chunk&)>& take) {
  for (const TreeVariable& variable : tree.variables) {
    std::vector<Companion> companions;
    Chunk chunk{{}, part(variable.levels[level], first, count), &variable};
    chunk.chunk.groups = groups;
    if (level > 0) chunk.chunk.fathers = whole(variable.levels[level - 1]);
    for (const std::size_t other : variable.companions) {
      const auto& levels = tree.variables[other].levels;
      companions.push_back(
          {Type::float64, part(levels[level], first, count), level > 0 ? whole(levels[level - 1]) : BytesView{}});
    }
    chunk.chunk.companions = companions;
    take(chunk);
  }
}

}  // namespace

void each_chunk(const TreeData& tree, std::size_t cells, const std::function<void(const Chunk&)>& take) {
  TreeDescent descent(tree.dimensions, tree.roots);
  SiblingGroups roots;
  roots.dimensions = tree.dimensions;
  each_variable(tree, 0, roots, 0, static_cast<std::size_t>(descent.cells()), take);
  const std::size_t sons = std::size_t{1} << tree.dimensions, faces = 2 * static_cast<std::size_t>(tree.dimensions);
  for (std::size_t level = 1; level < tree.refined.size(); ++level) {
    const LevelLinks links = descent.descend(tree.refined[level - 1]);
    const std::size_t all = links.father.size(), run = std::max<std::size_t>(cells / sons, 1);
    for (std::size_t first = 0; first < all; first += run) {
      const std::size_t count = std::min(run, all - first);
      SiblingGroups groups;
      groups.dimensions = tree.dimensions;
      groups.father = std::span(links.father).subspan(first, count);
      groups.beside = std::span(links.beside).subspan(first * faces, count * faces);
      each_variable(tree, level, groups, first * sons, count * sons, take);
    }
  }
}

}  // namespace benchmark
