// Streams that an earlier Sidestream made, by each method and with each relation: all bits of the values are right.
#include <doctest/doctest.h>

#include <fstream>
#include <set>

#include "amr_codec/values/value_coder.hpp"
#include "modules/amr_codec/random_trees.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/codecs/pipeline.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// A wave that is the same on all machines, from whole numbers and powers of two.
double wave(std::int64_t n) {
  const std::int64_t phase = (n * 37) % 512 - 256;
  return static_cast<double>(65536 - phase * phase) / 65536 + static_cast<double>((n * 2654435761) % 1024) / 1048576;
}

/// A level of 64 cells below one of 8.
struct Level {
  explicit Level(std::int64_t seed) {
    for (std::int64_t n = 0; n < 64; ++n) cells.push_back(wave(seed + 5 * n));
    for (std::size_t f = 0; f < 8; ++f) {
      double sum = 0;
      for (std::size_t n = 0; n < 8; ++n) sum += cells[8 * f + n];
      parents.push_back(sum / 8);
    }
  }
  std::vector<double> cells, parents;
};

struct Case {
  TreeMethod method;
  int header_bits = 6;
  Type type = Type::float64;
  Relations relations{};
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const TreeMethod method : {TreeMethod::raw, TreeMethod::zstd, TreeMethod::shuffled, TreeMethod::parent_xor,
                                  TreeMethod::predicted, TreeMethod::predicted_zstd}) {
    for (const Type type : {Type::float64, Type::float32}) all.push_back({method, 6, type, {}});
  }
  all.push_back({TreeMethod::parent_xor, 4});
  const auto add = [&](const Relations& relations) {
    all.push_back({TreeMethod::predicted, 6, Type::float64, relations});
  };
  Relations mean;
  mean.companions = 4;
  mean.mean = MeanRelation{2.5, 1, {{0.5, {0, 1, 1}, {2}}}};
  add(mean);
  Relations closure;
  closure.companions = 4;
  closure.closure = {{2, {0}, {}}, {0.5, {1, 2}, {3}}};
  add(closure);
  for (const int opposite : {-1, 0}) {
    for (const bool high : {false, true}) {
      Relations faces;
      faces.companions = 4;
      faces.face = FaceRelation{2, high, opposite, {0, 1, 2, 3}, {1, 1, 0.5}};
      add(faces);
    }
  }
  Relations factor;
  factor.factor = 0.125;
  add(factor);
  return all;
}

/// The input of the encoder and the decoder in one case.
struct Prepared {
  explicit Prepared(const Case& one) : own(3) {
    TreeDescent descent(3, {1, 1, 1});
    (void)descent.descend(std::vector<std::uint8_t>{1});
    links = descent.descend(std::vector<std::uint8_t>(8, 1));
    for (std::int64_t n = 0; n < 4; ++n) others.emplace_back(100 * n + 7);
    for (const Level& other : others)
      companions.push_back({Type::float64, bytes_of(other.cells, 0, 64), bytes_of(other.parents, 0, 8)});
    fill_own(one.relations);
    chunk.type = one.type;
    chunk.groups.parent = links.parent;
    chunk.groups.beside = links.beside;
    chunk.companions = companions;
    floats.assign(own.cells.begin(), own.cells.end());
    float_parents.assign(own.parents.begin(), own.parents.end());
    const bool wide = one.type == Type::float64;
    values = wide ? bytes_of(own.cells, 0, 64) : bytes_of(floats, 0, 64);
    chunk.parents = wide ? bytes_of(own.parents, 0, 8) : bytes_of(float_parents, 0, 8);
  }
  /// Fills in values for which the relation holds, unless it is that of the mean.
  void fill_own(const Relations& relations) {
    const auto& a = others;
    for (std::size_t n = 0; n < 64; ++n) {
      const double flow = (a[1].cells[n] - a[0].cells[n]) / 2 + (a[3].cells[n] - a[2].cells[n]) / 2;
      if (!relations.closure.empty())
        own.cells[n] = 2 * a[0].cells[n] + 0.5 * a[1].cells[n] * a[2].cells[n] / a[3].cells[n];
      if (!relations.face) continue;
      const FaceRelation& face = *relations.face;
      if (face.opposite >= 0) own.cells[n] = face.high ? a[0].cells[n] - flow : a[0].cells[n] + flow;
    }
  }
  Level own;
  std::vector<Level> others;
  LevelLinks links;
  std::vector<Companion> companions;
  std::vector<float> floats, float_parents;
  TreeChunk chunk;
  BytesView values;
};

/// A level of 64 x 64 cells in two dimensions. It is large enough for corrections, which its cross derivatives need.
struct Large {
  Large() {
    TreeDescent descent(2, {32, 32, 1});
    links = descent.descend(std::vector<std::uint8_t>(1024, 1));
    for (std::int64_t n = 0; n < 1024; ++n) {
      float sum = 0;
      for (std::int64_t child = 0; child < 4; ++child) {
        const std::int64_t x = 2 * (n % 32) + child % 2, y = 2 * (n / 32) + child / 2;
        cells.push_back(static_cast<float>(wave(x * y + 3 * x) / 1024 + 8 + static_cast<double>(x * x * y) / 512));
        sum += cells.back();
      }
      parents.push_back(sum / 4);
    }
    chunk.type = Type::float32;
    chunk.groups = {2, links.parent, links.beside};
    chunk.parents = bytes_of(parents, 0, parents.size());
  }
  LevelLinks links;
  std::vector<float> cells, parents;
  TreeChunk chunk;
};

const std::string golden_corrected = std::string(SIDESTREAM_GOLDEN_DIRECTORY) + "tree-values-corrected.stream";
const std::string golden = std::string(SIDESTREAM_GOLDEN_DIRECTORY) + "tree-values.streams";

}  // namespace

TEST_CASE("streams that have been kept are read") {
  if (!built_in_codecs().contains("zstd")) {
    WARN_MESSAGE(false, "NOT TESTED: this build has no zstd");
    return;
  }
  const std::string text = read_file(golden);
  BytesView rest = std::as_bytes(std::span(text));
  std::set<TreeMethod> seen;
  for (const Case& one : cases()) {
    std::uint32_t size = 0;
    REQUIRE(rest.size() >= sizeof size);
    std::memcpy(&size, rest.data(), sizeof size);
    REQUIRE(rest.size() >= sizeof size + size);
    const BytesView stream = rest.subspan(sizeof size, size);
    rest = rest.subspan(sizeof size + size);
    const Prepared prepared(one);
    CHECK(tree_stream_method(stream) == one.method);
    seen.insert(one.method);
    Bytes back(prepared.values.size());
    decode_tree_values(stream, prepared.chunk, one.relations, back);
    CHECK(std::equal(back.begin(), back.end(), prepared.values.begin()));
  }
  CHECK(rest.empty());
  CHECK(seen.size() == 6);
}

TEST_CASE("a stream with corrections is read") {
  if (!built_in_codecs().contains("zstd")) {
    WARN_MESSAGE(false, "NOT TESTED: this build has no zstd");
    return;
  }
  const std::string text = read_file(golden_corrected);
  const BytesView stream = std::as_bytes(std::span(text));
  REQUIRE(stream.size() > 4);
  CHECK((stream[3] & std::byte{8}) != std::byte{0});  // the plan says that it has corrections
  const Large large;
  Bytes back(large.cells.size() * sizeof(float));
  decode_tree_values(stream, large.chunk, {}, back);
  const BytesView values = bytes_of(large.cells, 0, large.cells.size());
  CHECK(std::equal(back.begin(), back.end(), values.begin()));
}

TEST_CASE("the paper's code makes the same bytes as ever") {
  const std::string text = read_file(golden);
  for (const Case& one : cases()) {
    if (one.method != TreeMethod::parent_xor) continue;
    TreeCoding coding;
    coding.method = one.method;
    coding.header_bits = one.header_bits;
    const Prepared prepared(one);
    const Bytes stream = encode_tree_values(prepared.values, prepared.chunk, one.relations, coding);
    CHECK(text.find(std::string(reinterpret_cast<const char*>(stream.data()), stream.size())) != std::string::npos);
  }
}

// This makes a new file for a new version of the format: test_tree_values --no-skip -tc="write the streams".
TEST_CASE("write the streams" * doctest::skip()) {
  std::ofstream out("tree-values.streams", std::ios::binary);
  for (const Case& one : cases()) {
    TreeCoding coding;
    coding.method = one.method;
    coding.header_bits = one.header_bits;
    const Prepared prepared(one);
    const Bytes stream = encode_tree_values(prepared.values, prepared.chunk, one.relations, coding);
    const auto size = static_cast<std::uint32_t>(stream.size());
    out.write(reinterpret_cast<const char*>(&size), sizeof size);
    out.write(reinterpret_cast<const char*>(stream.data()), size);
  }
  const Large large;
  TreeCoding predicted;
  predicted.method = TreeMethod::predicted;
  const Bytes stream = encode_tree_values(bytes_of(large.cells, 0, large.cells.size()), large.chunk, {}, predicted);
  std::ofstream("tree-values-corrected.stream", std::ios::binary)
      .write(reinterpret_cast<const char*>(stream.data()), static_cast<std::streamsize>(stream.size()));
}
