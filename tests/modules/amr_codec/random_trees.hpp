// Random octrees with values on all levels, and their chunks.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "amr_codec/values/value_coder.hpp"
#include "storage/trees/linked_tree.hpp"

namespace sidestream::testing {

/// Position of a cell, in cells of its level.
struct Place {
  std::array<Index, 3> at{};
};

struct RandomTree {
  int dimensions = 3;
  Index3 roots{1, 1, 1};
  std::vector<std::vector<std::uint8_t>> refined;
  std::vector<std::vector<Place>> places;
  std::vector<LevelLinks> links;  ///< links of each level except the roots
  [[nodiscard]] std::size_t children() const { return std::size_t{1} << dimensions; }
  [[nodiscard]] std::size_t cells(std::size_t level) const { return places[level].size(); }
};

/// A random tree, in which `share` of the cells above level `deepest` are refined.
inline RandomTree random_tree(std::mt19937_64& random, int dimensions, const Index3& roots, std::size_t deepest,
                              double share) {
  RandomTree tree{dimensions, roots, {}, {}, {}};
  for (std::size_t a = static_cast<std::size_t>(dimensions); a < 3; ++a) tree.roots[a] = 1;
  std::vector<Place> level;
  for (Index z = 0; z < tree.roots[2]; ++z) {
    for (Index y = 0; y < tree.roots[1]; ++y) {
      for (Index x = 0; x < tree.roots[0]; ++x) level.push_back({{x, y, z}});
    }
  }
  std::uniform_real_distribution<double> chance(0, 1);
  TreeDescent descent(dimensions, tree.roots);
  tree.links.emplace_back();
  while (!level.empty()) {
    std::vector<std::uint8_t> refined(level.size(), 0);
    std::vector<Place> below;
    for (std::size_t n = 0; n < level.size(); ++n) {
      if (tree.places.size() >= deepest || chance(random) >= share) continue;
      refined[n] = 1;
      for (std::size_t child = 0; child < tree.children(); ++child) {
        Place place = level[n];
        for (std::size_t a = 0; a < 3; ++a) {
          place.at[a] =
              a < static_cast<std::size_t>(dimensions) ? 2 * place.at[a] + static_cast<Index>(child >> a & 1) : 0;
        }
        below.push_back(place);
      }
    }
    tree.refined.push_back(refined);
    tree.places.push_back(level);
    tree.links.push_back(descent.descend(refined));
    level = std::move(below);
  }
  tree.links.pop_back();
  return tree;
}

/// The values of the cells of each level.
template <class T>
using Field = std::vector<std::vector<T>>;

/// A field with the values f(position of the centre in lengths of a root, level).
template <class T, class F>
Field<T> field_of(const RandomTree& tree, F&& f) {
  Field<T> field;
  for (std::size_t level = 0; level < tree.places.size(); ++level) {
    std::vector<T>& values = field.emplace_back();
    const double size = std::ldexp(1.0, -static_cast<int>(level));
    for (const Place& place : tree.places[level]) {
      std::array<double, 3> middle;
      for (std::size_t a = 0; a < 3; ++a) middle[a] = (static_cast<double>(place.at[a]) + 0.5) * size;
      values.push_back(static_cast<T>(f(middle, level)));
    }
  }
  return field;
}

/// Sets the values of parents, from the deepest level up. `mean(level, first)` gives the value of the parent whose
/// children begin at `first`.
template <class T, class Mean>
void set_parents(const RandomTree& tree, Field<T>& field, Mean&& mean) {
  for (std::size_t level = tree.places.size(); level-- > 1;) {
    const std::vector<Index>& parents = tree.links[level].parent;
    for (std::size_t group = 0; group < parents.size(); ++group) {
      field[level - 1][static_cast<std::size_t>(parents[group])] = mean(level, group * tree.children());
    }
  }
}

/// Sets the values of parents to the means of their children.
template <class T>
void take_means(const RandomTree& tree, Field<T>& field) {
  set_parents(tree, field, [&](std::size_t level, std::size_t first) {
    double sum = 0;
    for (std::size_t n = 0; n < tree.children(); ++n) sum += static_cast<double>(field[level][first + n]);
    return static_cast<T>(sum / static_cast<double>(tree.children()));
  });
}

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, float>) return Type::float32;
  if constexpr (std::is_same_v<T, double>) return Type::float64;
  if constexpr (std::is_same_v<T, std::int8_t>) return Type::int8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return Type::uint16;
  if constexpr (std::is_same_v<T, std::int32_t>) return Type::int32;
  return Type::int64;
}

template <class T>
BytesView bytes_of(const std::vector<T>& values, std::size_t first, std::size_t count) {
  return std::as_bytes(std::span(values).subspan(first, count));
}

struct SomeChunk {
  TreeChunk chunk;
  BytesView values;
};

/// Other variables as doubles, in the order of relations.
using Others = std::vector<const Field<double>*>;

/// Calls `take` for each chunk of `groups` sibling groups of each level.
template <class T>
void each_chunk(const RandomTree& tree, const Field<T>& field, std::size_t groups, const Others& others,
                const std::function<void(const SomeChunk&)>& take) {
  for (std::size_t level = 0; level < tree.places.size(); ++level) {
    const LevelLinks& links = tree.links[level];
    const std::size_t all = links.parent.size(), faces = 2 * static_cast<std::size_t>(tree.dimensions);
    std::size_t first = 0;
    do {
      const std::size_t run = level == 0 ? 0 : std::min(groups, all - first);
      const std::size_t from = first * tree.children(), count = level == 0 ? tree.cells(0) : run * tree.children();
      std::vector<Companion> companions;
      for (const Field<double>* other : others) {
        companions.push_back({Type::float64, bytes_of((*other)[level], from, count),
                              level == 0 ? BytesView() : bytes_of((*other)[level - 1], 0, tree.cells(level - 1))});
      }
      SomeChunk one{{}, bytes_of(field[level], from, count)};
      one.chunk.type = type_of<T>();
      one.chunk.groups.dimensions = tree.dimensions;
      if (level > 0) {
        one.chunk.groups.parent = std::span(links.parent).subspan(first, run);
        one.chunk.groups.beside = std::span(links.beside).subspan(first * faces, run * faces);
        one.chunk.parents = bytes_of(field[level - 1], 0, tree.cells(level - 1));
      }
      one.chunk.companions = companions;
      take(one);
      first += run;
    } while (first < all);
  }
}

/// Numbers that are easily lost: payloads of NaN, infinities, zeros of both signs, denormals, and the largest numbers.
template <class T>
T odd_number(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  switch (random() % 9) {
    case 0: {
      // NaN, quiet or signalling, of either sign, with some payload.
      Word bits = static_cast<Word>(random()) | std::bit_cast<Word>(Limits::infinity());
      return std::bit_cast<T>(bits);
    }
    case 1:
      return Limits::infinity();
    case 2:
      return -Limits::infinity();
    case 3:
      return T{-0.0};
    case 4:
      return T{0};
    case 5:
      return Limits::denorm_min() * static_cast<T>(random() % 1000);
    case 6:
      return -Limits::max();
    case 7:
      return Limits::min();
    default:
      return std::bit_cast<T>(static_cast<Word>(random()));
  }
}

}  // namespace sidestream::testing
