// Databases that an earlier Sidestream wrote, through each codec: values come out bit by bit as they did then.
#include <doctest/doctest.h>

#include <cstring>
#include <set>

#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"
#include "storage/output_file.hpp"

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
