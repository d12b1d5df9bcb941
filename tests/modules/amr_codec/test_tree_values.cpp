// The coders of octrees' values keep every bit of any values on any tree, by every method, with and without companions.
#include <doctest/doctest.h>

#include "amr_codec/values/value_coder.hpp"
#include "modules/amr_codec/random_trees.hpp"
#include "sidestream/error.hpp"
#include "storage/trees/linked_tree.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr std::array methods{TreeMethod::raw,           TreeMethod::constant,   TreeMethod::zstd,
                             TreeMethod::shuffled,      TreeMethod::parent_xor, TreeMethod::predicted,
                             TreeMethod::predicted_zstd};

/// Encodes, removes values that the stream does not need, and decodes. Returns the size of the stream.
std::size_t there_and_back(const SomeChunk& one, const Relations& relations, const TreeCoding& coding) {
  const Bytes stream = encode_tree_values(one.values, one.chunk, relations, coding);
  const TreeStreamNeeds needs = tree_stream_needs(BytesView(stream).first(std::min<std::size_t>(16, stream.size())));
  TreeChunk reader = one.chunk;
  if (!needs.parents) reader.parents = {};
  if (!needs.beside) reader.groups.beside = {};
  std::vector<Companion> companions(one.chunk.companions.size());
  for (const int number : needs.companions) {
    companions[static_cast<std::size_t>(number)] = one.chunk.companions[static_cast<std::size_t>(number)];
  }
  reader.companions = companions;
  Bytes back(one.values.size(), std::byte{0x5a});
  decode_tree_values(stream, reader, relations, back);
  CAPTURE(name_of(tree_stream_method(stream)));
  REQUIRE(std::equal(back.begin(), back.end(), one.values.begin()));
  return stream.size();
}

template <class T>
void check_all_methods(const RandomTree& tree, const Field<T>& field, std::size_t groups,
                       const Relations& relations = {}, const Others& others = {}) {
  each_chunk(tree, field, groups, others, [&](const SomeChunk& one) {
    there_and_back(one, relations, {});
    for (const TreeMethod method : methods) {
      TreeCoding coding;
      coding.method = method;
      coding.zstd_level = 1;
      for (int bits = 1; bits <= (method == TreeMethod::parent_xor ? 6 : 1); ++bits) {
        coding.header_bits = bits;
        there_and_back(one, relations, coding);
      }
    }
  });
}

double waves(const std::array<double, 3>& at, std::size_t) {
  return 1 + 0.5 * std::sin(7 * at[0]) + 0.2 * std::cos(11 * at[1] + 3 * at[2]);
}

/// Fields with all kinds of values.
template <class T>
std::vector<Field<T>> fields_on(const RandomTree& tree, std::mt19937_64& random) {
  std::vector<Field<T>> fields;
  fields.push_back(field_of<T>(tree, waves));
  fields.push_back(fields.back());
  take_means(tree, fields.back());
  fields.push_back(field_of<T>(tree, [](const auto&, std::size_t) { return 1.25; }));
  fields.push_back(
      field_of<T>(tree, [&](const auto& at, std::size_t level) { return random() % 8 == 0 ? waves(at, level) : 0.0; }));
  if constexpr (std::is_floating_point_v<T>) {
    fields.push_back(field_of<T>(tree, [](const auto& at, std::size_t level) { return 1e-310 * waves(at, level); }));
    Field<T> odd = fields.front();
    for (std::vector<T>& level : odd) {
      for (T& value : level) value = random() % 4 == 0 ? odd_number<T>(random) : value;
    }
    fields.push_back(odd);
    for (std::vector<T>& level : odd) {
      for (T& value : level) value = odd_number<T>(random);
    }
    fields.push_back(odd);
  }
  return fields;
}

std::vector<RandomTree> trees(std::mt19937_64& random) {
  std::vector<RandomTree> all;
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    all.push_back(random_tree(random, dimensions, {1, 1, 1}, 0, 0));  // one cell
    all.push_back(random_tree(random, dimensions, {3, 2, 1}, 0, 0));
    all.push_back(random_tree(random, dimensions, {1, 1, 1}, 3, 1));
    all.push_back(random_tree(random, dimensions, {2, 1, 3}, dimensions == 1 ? 9 : 4, 0.6));
    if (dimensions < 3 || test_all()) all.push_back(random_tree(random, dimensions, {1, 2, 1}, 6, 0.3));
  }
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("every bit of floating-point values comes back", T, float, double) {
  std::mt19937_64 random(11);
  for (const RandomTree& tree : trees(random)) {
    for (const Field<T>& field : fields_on<T>(tree, random)) {
      check_all_methods(tree, field, 1000000);
      check_all_methods(tree, field, 5);
    }
  }
}

TEST_CASE_TEMPLATE("every bit of whole numbers comes back", T, std::int8_t, std::uint16_t, std::int32_t, std::int64_t) {
  std::mt19937_64 random(12);
  for (const RandomTree& tree : trees(random)) {
    for (const Field<T>& field : fields_on<T>(tree, random)) check_all_methods(tree, field, 100);
  }
}

TEST_CASE("a chunk without cells") {
  for (const Type type : {Type::float32, Type::float64, Type::uint8}) {
    TreeChunk chunk;
    chunk.type = type;
    const Bytes stream = encode_tree_values({}, chunk);
    CHECK(stream.size() < 16);
    decode_tree_values(stream, chunk, {}, {});
  }
}

TEST_CASE("large chunks: many tiles, several lists of lengths") {
  std::mt19937_64 random(13);
  const RandomTree tree = random_tree(random, 3, {1, 1, 1}, 6, 0.85);
  REQUIRE(tree.cells(tree.places.size() - 1) > 20000);
  std::vector<Field<double>> doubles = fields_on<double>(tree, random);
  std::vector<Field<float>> floats = fields_on<float>(tree, random);
  if (!test_all()) doubles = {doubles[1], doubles[5]}, floats = {floats[1], floats[5]};  // means, and odd values
  for (const Field<double>& field : doubles) check_all_methods(tree, field, 1u << 20);
  for (const Field<float>& field : floats) check_all_methods(tree, field, 1700);
}

TEST_CASE("links to parents and neighbours agree with positions") {
  std::mt19937_64 random(14);
  for (const RandomTree& tree : trees(random)) {
    for (std::size_t level = 1; level < tree.places.size(); ++level) {
      const LevelLinks& links = tree.links[level];
      const auto faces = static_cast<std::size_t>(2 * tree.dimensions);
      REQUIRE(links.parent.size() * tree.children() == tree.cells(level));
      REQUIRE(links.beside.size() == links.parent.size() * faces);
      const std::vector<Place>& above = tree.places[level - 1];
      const auto number_of = [&](const Place& place) {
        for (std::size_t n = 0; n < above.size(); ++n) {
          if (above[n].at == place.at) return static_cast<Index>(n);
        }
        return Index{-1};
      };
      for (std::size_t group = 0; group < links.parent.size(); group += 1 + group / 64) {
        Place parent = tree.places[level][group * tree.children()];
        for (Index& n : parent.at) n /= 2;
        REQUIRE(links.parent[group] == number_of(parent));
        for (std::size_t face = 0; face < faces; ++face) {
          Place beside = parent;
          beside.at[face / 2] += face % 2 == 1 ? 1 : -1;
          REQUIRE(links.beside[group * faces + face] == number_of(beside));
        }
      }
    }
  }
  TreeDescent descent(3, {1, 1, 1});
  CHECK_THROWS_AS((void)descent.descend(std::vector<std::uint8_t>(2)), Error);
}
