// The module as a plug-in, its argument, and bytes that earlier versions wrote.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "config/tasks/module_files.hpp"
#include "modules/bounded_codec/chunks.hpp"
#include "storage/codecs/packing.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// Dyadic numbers, which every machine computes alike, with values that are stored as they are.
std::vector<double> golden_values() {
  std::vector<double> values;
  for (int z = 0; z < 6; ++z) {
    for (int y = 0; y < 9; ++y) {
      for (int x = 0; x < 14; ++x) values.push_back((x * x - 3 * y * z + (x * y) % 5) / 64.0);
    }
  }
  values[100] = std::numeric_limits<double>::infinity();
  values[101] = 1e200;
  return values;
}

const ChunkPlace golden_place{17, {14, 9, 8}, 1};

template <class T>
std::vector<T> file_of(const std::string& name) {
  std::ifstream file(SIDESTREAM_BOUNDED_GOLDEN + name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<T> read(text.size() / sizeof(T));
  std::memcpy(read.data(), text.data(), read.size() * sizeof(T));
  return read;
}

}  // namespace

TEST_CASE("the module is loaded when a list names its codec") {
  setenv("SIDESTREAM_MODULES", std::filesystem::path(SIDESTREAM_BOUNDED_CODEC_MODULE).parent_path().c_str(), 1);
  CodecKinds kinds = built_in_codecs();
  CHECK_FALSE(kinds.contains("bounded"));
  add_codecs_of_modules({{"byte-shuffle"}, {"bounded:range:1e-4"}}, {}, kinds);
  unsetenv("SIDESTREAM_MODULES");
  REQUIRE(kinds.contains("bounded"));
  CHECK_FALSE(kinds.contains("tree"));
  const Packing packing = Packing::chosen({"byte-shuffle", "zstd"}, Type::float64, kinds, "bounded:range:1e-4");
  CHECK(packing.lists() == std::vector<std::vector<std::string>>{{"bounded:range:1e-4"}});
  CHECK_FALSE(packing.lossless());
  CHECK(message_of([&] { static_cast<void>(Packing({{"bounded:1"}}, Type::int32, kinds)); }).find("int32") !=
        std::string::npos);
}

TEST_CASE("an argument that is no bound gets a sentence") {
  for (const char* const argument :
       {"", "0", "-1", "nan", "inf", "1e-3x", "range:", "range:1", "range:-1", "of:1", "each:", "each:1", "each:0",
        "each:1e-9", "each:nan", "each:each:1e-3", "each:+1e-3", "1e-3:each"}) {
    const std::string message = message_of([&] { static_cast<void>(bounded::bound_of(argument)); });
    CHECK_MESSAGE(message.find("expected the largest error") != std::string::npos, argument);
  }
  const auto mistaken = [](const char* argument) {
    return message_of([&] { static_cast<void>(bounded::bound_of(argument)); });
  };
  CHECK(mistaken("eech:1e-3").find("did you mean 'each'?") != std::string::npos);
  CHECK(mistaken("ranges:1e-3").find("did you mean 'range'?") != std::string::npos);
  CHECK(mistaken("each:1e-9").find("from 1e-8 to below 1") != std::string::npos);
  CHECK(bounded::bound_of("each:1e-8").relation == bounded::Relation::each);
}

namespace {

/// The files CHUNK and VALUES.
void check_golden(const std::vector<double>& values, const std::string& bound, const std::string& chunk,
                  const std::string& values_name) {
  const Bytes stream = encoded(values, golden_place, bound);
  if (std::getenv("SIDESTREAM_WRITE_GOLDEN") != nullptr) {
    const auto write = [](const std::string& name, BytesView bytes) {
      std::ofstream(SIDESTREAM_BOUNDED_GOLDEN + name, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
    write(chunk, stream);
    const std::vector<double> back = decoded<double>(stream, values.size());
    write(values_name, std::as_bytes(std::span(back)));
  }
  const auto golden = file_of<std::byte>(chunk);
  const auto golden_decoded = file_of<double>(values_name);
  CHECK(stream == Bytes(golden.begin(), golden.end()));
  REQUIRE(golden_decoded.size() == values.size());
  const std::vector<double> back = decoded<double>(Bytes(golden.begin(), golden.end()), values.size());
  CHECK(std::memcmp(back.data(), golden_decoded.data(), back.size() * sizeof(double)) == 0);
}

}  // namespace

TEST_CASE("bytes are those of the specification") {
  check_golden(golden_values(), "0.015625", "chunk", "values");
  std::vector<double> odd = golden_values();
  odd[200] = std::numeric_limits<double>::quiet_NaN();
  odd[201] = -0.0;
  odd[202] = odd[203] = std::numeric_limits<double>::denorm_min();
  odd[204] = -1e-310;
  check_golden(odd, "each:0.001953125", "chunk-each", "values-each");
}
