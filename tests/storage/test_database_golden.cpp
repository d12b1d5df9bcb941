// Databases that an earlier Sidestream wrote with each codec: all bits of the values are as they were then.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

using namespace sidestream;

namespace {

constexpr Index cells = 16 * 8 * 4;

std::vector<double> values_of(database::Context& context) {
  std::vector<double> values(cells);
  const Box box{{0, 0, 0}, {16, 8, 4}};
  const database::Target target{values.data(), box, packed_strides(box, 1, Order::column)};
  REQUIRE(read_box(context, 0, 0, box, target) == 0);
  return values;
}

}  // namespace

TEST_CASE("what each codec wrote in version 1 is read") {
  const std::string golden = SIDESTREAM_GOLDEN_DIRECTORY;
  const database::Journal journal = database::read_journal(golden + "database-codecs");
  const std::string expected = read_file(golden + "database-codecs-values.raw");
  REQUIRE(journal.contexts.size() == 9);
  REQUIRE(expected.size() == journal.contexts.size() * cells * sizeof(double));
  std::set<std::string> seen;
  for (std::size_t n = 0; n < journal.contexts.size(); ++n) {
    database::Context context(golden + "database-codecs", journal.contexts[n]);
    for (const std::string& codec : context.schema().codecs.front()) seen.insert(codec);
    const auto& codecs = context.schema().codecs.front();
    if (!built_in_codecs().contains("zstd") && std::find(codecs.begin(), codecs.end(), "zstd") != codecs.end())
      continue;
    for (const database::ChunkRow& chunk : context.pieces(0).chunks) CHECK(chunk.encoded == 1);
    const std::vector<double> values = values_of(context);
    CAPTURE(n);
    CHECK(std::memcmp(values.data(), expected.data() + n * cells * sizeof(double), cells * sizeof(double)) == 0);
  }
  for (const char* name :
       {"byte-shuffle", "bit-shuffle", "zstd", "gzip", "half", "quantise-1", "quantise-2", "quantise-4"}) {
    CHECK_MESSAGE(seen.contains(name), name);
  }
}

TEST_CASE("what a context says of itself is still written byte for byte") {
  std::size_t contexts = 0;
  for (const auto& folder : std::filesystem::recursive_directory_iterator(SIDESTREAM_GOLDEN_DIRECTORY)) {
    if (!std::filesystem::exists(folder.path() / "contexts")) continue;
    const std::string path = folder.path().string();
    CAPTURE(path);
    for (const database::Entry& entry : database::read_journal(path).contexts) {
      const Bytes record = database::read_record(path, entry);
      std::uint64_t length = 0;
      std::memcpy(&length, record.data() + 8, sizeof length);
      const std::string text(reinterpret_cast<const char*>(record.data()) + 24, length);
      CHECK(database::schema_text(database::read_schema(text, path)) == text);
      ++contexts;
    }
  }
  CHECK(contexts > 10);
}

namespace {

/// All values of a context, piece by piece.
std::vector<Bytes> pieces_of(database::Context& context) {
  std::vector<Bytes> all;
  for (const database::PieceRow& row : context.pieces(0).pieces) {
    const Variable& variable = context.metadata().variables[row.variable];
    Bytes& values = all.emplace_back(database::bytes_of_piece(variable, context.blocks(0)[row.block], "a test"));
    read_piece(context, 0, row, values);
  }
  return all;
}

}  // namespace

TEST_CASE("octrees of version 2 are read: flags and values packed, by level, pruned") {
  if (!built_in_codecs().contains("zstd") || !SIDESTREAM_HAS_TREE_CODEC) {
    MESSAGE("values of trees are NOT TESTED: this build is without zstd, or without the module amr_codec");
    return;
  }
  const std::string golden = std::string(SIDESTREAM_GOLDEN_DIRECTORY) + "database-trees/";
  for (const auto& [name, as] : {std::pair("zstd", "plain"), {"packed", "plain"}, {"pruned", "pruned-plain"}}) {
    const database::Journal journal = database::read_journal(golden + name),
                            plain = database::read_journal(golden + as);
    REQUIRE(journal.contexts.size() == 2);
    for (std::size_t n = 0; n < 2; ++n) {
      CAPTURE(name);
      CAPTURE(n);
      CHECK(journal.contexts[n].version == database::tree_version);
      database::Context context(golden + name, journal.contexts[n]), expected(golden + as, plain.contexts[n]);
      CHECK(database::verify(context).empty());
      CHECK(pieces_of(context) == pieces_of(expected));
      CHECK(context.schema().pruned == (std::string(as) == "pruned-plain"));
      CHECK(context.schema().relations_of(3).empty());
    }
  }
}
