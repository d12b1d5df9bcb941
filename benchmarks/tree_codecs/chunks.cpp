#include "chunks.hpp"

#include <algorithm>

namespace benchmark {

using namespace sidestream;

namespace {

/// The values of a tree as bytes of their type.
class Values {
 public:
  explicit Values(const TreeData& tree) : tree_(tree) {
    if (!tree.single) return;
    for (const TreeVariable& variable : tree.variables) {
      auto& levels = singles_.emplace_back();
      for (const auto& level : variable.levels) levels.emplace_back(level.begin(), level.end());
    }
  }
  [[nodiscard]] Type type() const { return tree_.single ? Type::float32 : Type::float64; }
  [[nodiscard]] BytesView part(std::size_t variable, std::size_t level, std::size_t first, std::size_t count) const {
    if (tree_.single) return std::as_bytes(std::span(singles_[variable][level]).subspan(first, count));
    return std::as_bytes(std::span(tree_.variables[variable].levels[level]).subspan(first, count));
  }
  /// Values of the parents of a level; roots have none.
  [[nodiscard]] BytesView above(std::size_t variable, std::size_t level) const {
    if (level == 0) return {};
    return part(variable, level - 1, 0, tree_.variables[variable].levels[level - 1].size());
  }

 private:
  const TreeData& tree_;
  std::vector<std::vector<std::vector<float>>> singles_{};
};

void each_variable(const TreeData& tree, const Values& values, std::size_t level, const SiblingGroups& groups,
                   std::size_t first, std::size_t count, const std::function<void(const Chunk&)>& take) {
  for (std::size_t n = 0; n < tree.variables.size(); ++n) {
    const TreeVariable& variable = tree.variables[n];
    std::vector<Companion> companions;
    Chunk chunk{{}, values.part(n, level, first, count), &variable};
    chunk.chunk.type = values.type();
    chunk.chunk.groups = groups;
    chunk.chunk.parents = values.above(n, level);
    for (const std::size_t other : variable.companions) {
      companions.push_back({values.type(), values.part(other, level, first, count), values.above(other, level)});
    }
    chunk.chunk.companions = companions;
    take(chunk);
  }
}

}  // namespace

void each_chunk(const TreeData& tree, std::size_t cells, const std::function<void(const Chunk&)>& take) {
  const Values values(tree);
  TreeDescent descent(tree.dimensions, tree.roots);
  SiblingGroups roots;
  roots.dimensions = tree.dimensions;
  each_variable(tree, values, 0, roots, 0, static_cast<std::size_t>(descent.cells()), take);
  const std::size_t children = std::size_t{1} << tree.dimensions, faces = 2 * static_cast<std::size_t>(tree.dimensions);
  for (std::size_t level = 1; level < tree.refined.size(); ++level) {
    const LevelLinks links = descent.descend(tree.refined[level - 1]);
    const std::size_t all = links.parent.size(), run = std::max<std::size_t>(cells / children, 1);
    for (std::size_t first = 0; first < all; first += run) {
      const std::size_t count = std::min(run, all - first);
      SiblingGroups groups;
      groups.dimensions = tree.dimensions;
      groups.parent = std::span(links.parent).subspan(first, count);
      groups.beside = std::span(links.beside).subspan(first * faces, count * faces);
      each_variable(tree, values, level, groups, first * children, count * children, take);
    }
  }
}

}  // namespace benchmark
