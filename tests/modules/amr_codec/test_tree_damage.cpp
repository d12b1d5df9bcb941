// Damaged streams, streams that are decoded with other companion values, and calls that make no sense.
#include <doctest/doctest.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "amr_codec/values/value_coder.hpp"
#include "modules/amr_codec/random_trees.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// A chunk of a tree with all relations, and a stream of each method.
struct Sample {
  Sample() {
    std::mt19937_64 random(31);
    tree = random_tree(random, 3, {1, 1, 1}, 3, 1);
    field = field_of<double>(tree, [](const auto& at, std::size_t) { return 1 + at[0] * at[0] + 0.3 * at[1] - at[2]; });
    density = field_of<double>(tree, [](const auto& at, std::size_t) { return 1 + at[1] + at[0] * at[2]; });
    take_means(tree, density);
    // Sets parents by their relation.
    set_parents(tree, field, [&](std::size_t level, std::size_t first) {
      double sum = 0, weight = 0;
      for (std::size_t n = first; n < first + tree.children(); ++n) {
        sum += density[level][n] * field[level][n];
        weight += density[level][n];
      }
      return sum / weight;
    });
    relations.mean = MeanRelation{1, 0, {}};
    relations.companions = 1;
    const std::size_t level = 3, above = 2;
    companions = {{Type::float64, bytes_of(density[level], 0, density[level].size()),
                   bytes_of(density[above], 0, density[above].size())}};
    chunk.groups.parent = tree.links[level].parent;
    chunk.groups.beside = tree.links[level].beside;
    chunk.parents = bytes_of(field[above], 0, field[above].size());
    chunk.companions = companions;
    values = bytes_of(field[level], 0, field[level].size());
  }
  [[nodiscard]] Bytes stream(TreeMethod method) const {
    TreeCoding coding;
    coding.method = method;
    return encode_tree_values(values, chunk, relations, coding);
  }
  RandomTree tree;
  Field<double> field, density;
  std::vector<Companion> companions;
  TreeChunk chunk;
  Relations relations;
  BytesView values;
};

constexpr std::array methods{TreeMethod::raw,        TreeMethod::zstd,      TreeMethod::shuffled,
                             TreeMethod::parent_xor, TreeMethod::predicted, TreeMethod::predicted_zstd};

/// Checks that the stream is refused with Error(file), or gives its values, because some bits have no meaning.
void check_refused(const Sample& sample, const Bytes& stream) {
  // The copy has exactly this size, so that memory checkers see reads behind it.
  const std::unique_ptr<std::byte[]> exact(new std::byte[stream.size()]);
  std::copy(stream.begin(), stream.end(), exact.get());
  Bytes back(sample.values.size());
  try {
    decode_tree_values({exact.get(), stream.size()}, sample.chunk, sample.relations, back);
    REQUIRE(std::equal(back.begin(), back.end(), sample.values.begin()));
  } catch (const Error& error) {
    REQUIRE(error.code() == Code::file);
  }
}

}  // namespace

TEST_CASE("streams that end early or go on") {
  const Sample sample;
  for (const TreeMethod method : methods) {
    const Bytes whole = sample.stream(method);
    REQUIRE(tree_stream_method(whole) == method);
    Bytes back(sample.values.size());
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 40) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK_THROWS_AS(decode_tree_values(part, sample.chunk, sample.relations, back), Error);
      check_refused(sample, part);
    }
    Bytes more = whole;
    more.insert(more.end(), 9, std::byte{0});
    CHECK_THROWS_AS(decode_tree_values(more, sample.chunk, sample.relations, back), Error);
  }
}

TEST_CASE("each bit of a stream turned over") {
  const Sample sample;
  for (const TreeMethod method : methods) {
    const Bytes whole = sample.stream(method);
    for (std::size_t bit = 0; bit < 8 * whole.size(); bit += bit < 4096 ? 1 : 61) {
      Bytes damaged = whole;
      damaged[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      check_refused(sample, damaged);
    }
  }
}

TEST_CASE("nonsense of any length behind each first byte") {
  const Sample sample;
  std::mt19937_64 random(32);
  for (unsigned first = 0x0f; first < 0x20; ++first) {
    for (int n = 0; n < 400; ++n) {
      Bytes nonsense(random() % 300);
      for (std::byte& byte : nonsense) byte = static_cast<std::byte>(random() % 3 == 0 ? random() : random() % 4);
      if (!nonsense.empty()) nonsense[0] = static_cast<std::byte>(first);
      check_refused(sample, nonsense);
    }
  }
}

TEST_CASE("other values beside the stream than it was made with are found out") {
  Sample sample;
  const Bytes stream = sample.stream(TreeMethod::predicted);
  Bytes back(sample.values.size());
  sample.density[3][17] += 0.25;
  CHECK_THROWS_AS(decode_tree_values(stream, sample.chunk, sample.relations, back), Error);
  sample.density[3][17] -= 0.25;
  decode_tree_values(stream, sample.chunk, sample.relations, back);
  sample.field[2][5] = 3;
  const std::string message = message_of([&] { decode_tree_values(stream, sample.chunk, sample.relations, back); });
  CHECK_MESSAGE(contains(message, "checksum"), message);
  const std::string undeclared = message_of([&] { decode_tree_values(stream, sample.chunk, {}, back); });
  CHECK_MESSAGE(contains(undeclared, "damaged"), undeclared);
}

TEST_CASE("calls that make no sense say what is missing") {
  const Sample sample;
  const Bytes stream = sample.stream(TreeMethod::predicted);
  Bytes back(sample.values.size());
  const auto refused = [&](TreeChunk chunk, const Relations& relations) {
    return message_of([&] { decode_tree_values(stream, chunk, relations, back); });
  };
  TreeChunk chunk = sample.chunk;
  chunk.parents = {};
  CHECK(contains(refused(chunk, sample.relations), "without its parents"));
  chunk = sample.chunk;
  chunk.groups.beside = {};
  CHECK(contains(refused(chunk, sample.relations), "beside its parents"));
  chunk = sample.chunk;
  chunk.companions = {};
  CHECK(contains(refused(chunk, sample.relations), "companion 0 is needed"));
  chunk = sample.chunk;
  chunk.groups.parent = chunk.groups.parent.subspan(1);
  CHECK(contains(refused(chunk, sample.relations), "sibling groups"));
  chunk = sample.chunk;
  chunk.groups.dimensions = 4;
  CHECK(contains(refused(chunk, sample.relations), "expected 1 to 3"));
  chunk = sample.chunk;
  const std::vector<Index> behind(chunk.groups.parent.size(), 1000);
  chunk.groups.parent = behind;
  CHECK(contains(refused(chunk, sample.relations), "whose parent is cell 1000"));
  Relations relations = sample.relations;
  relations.mean->weight = 7;
  CHECK(contains(refused(sample.chunk, relations), "companion 7 of 1"));
  TreeCoding coding;
  coding.header_bits = 7;
  CHECK_THROWS_AS((void)encode_tree_values(sample.values, sample.chunk, sample.relations, coding), Error);
}

#if defined(__x86_64__)
TEST_CASE("a process that flushes denormals reads what another wrote") {
  std::mt19937_64 random(33);
  const RandomTree tree = random_tree(random, 3, {1, 1, 1}, 4, 1);
  const Field<double> field =
      field_of<double>(tree, [](const auto& at, std::size_t) { return 1e-308 * at[0] * at[1]; });
  each_chunk<double>(tree, field, 1000, {}, [&](const SomeChunk& one) {
    TreeCoding coding;
    coding.method = TreeMethod::predicted;
    const Bytes stream = encode_tree_values(one.values, one.chunk, {}, coding);
    Bytes back(one.values.size());
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    decode_tree_values(stream, one.chunk, {}, back);
    _mm_setcsr(before);
    REQUIRE(std::equal(back.begin(), back.end(), one.values.begin()));
  });
}
#endif
