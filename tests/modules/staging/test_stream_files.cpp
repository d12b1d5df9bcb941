// The files of a stream: their bytes, damaged files, and reading of parts.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "base/mpi/communicator.hpp"
#include "sidestream/error.hpp"
#include "staging/folder.hpp"
#include "staging/format.hpp"
#include "staging/stream_data_engine.hpp"
#include "support/scratch.hpp"

namespace fs = std::filesystem;
using namespace sidestream;
using namespace sidestream::staging;
using sidestream::testing::Scratch;

namespace {

/// Two blocks of two variables, with numbers that the Python reader by the specification checks.
StepIndex sample() {
  StepIndex step;
  step.session = 0x0123456789abcdef;
  step.iteration = {7, 70, 0.5};
  step.events = 5;
  step.writers = 2;
  step.blocks = {{4, 0, 0, 1, IndexSpace::box, {{0, 0, 0}, {3, 4, 5}}},
                 {9, 0, 1, 2, IndexSpace::box, {{3, 0, 0}, {6, 4, 5}}}};
  StepRecord first;
  first.block = 0;
  first.variable = 0;
  first.type = Type::float64;
  first.points = {{0, 0, 0}, {3, 4, 5}};
  first.bytes = 480;
  first.checksum = 0xdeadbeef;
  StepRecord second = first;
  second.block = 1;
  second.variable = 1;
  second.components = 2;
  second.type = Type::float32;
  second.writer = 1;
  second.points = {{3, 0, 0}, {7, 5, 6}};
  second.offset = 64;
  second.bytes = 960;
  second.number = 3;
  step.records = {first, second};
  BlockRange range;
  range.block = 4;
  range.variable = 0;
  range.all = {-1.5, 2.5};
  range.lowest = {Range{-1, 1}, Range{}, Range{0, 2}};
  step.ranges = {range};
  step.counted = {{4, 9, 0, 0, {-0.5, 2.25}}};
  return step;
}

Bytes read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("the golden step reads back, and what is written now is the same bytes") {
  const Bytes golden = read_all(SIDESTREAM_GOLDEN "/step-7");
  REQUIRE(golden.size() == 64 + 56 + 2 * 144 + 2 * 96 + 144 + 40);
  const StepIndex step = decode_step(golden, "golden");
  CHECK(step.iteration.index == 7);
  CHECK(step.iteration.cycle == 70);
  CHECK(step.iteration.time == 0.5);
  CHECK(step.events == 5);
  CHECK(step.blocks == sample().blocks);
  CHECK(step.records[1].points == Box{{3, 0, 0}, {7, 5, 6}});
  CHECK(step.records[0].checksum == 0xdeadbeef);
  CHECK(step.ranges[0].all == Range{-1.5, 2.5});
  CHECK(step.counted[0].beside == 9);
  CHECK(step.counted[0].range == Range{-0.5, 2.25});
  CHECK(encode_step(sample()) == golden);
}

TEST_CASE("a step that is cut off anywhere, or changed anywhere, is refused") {
  const Bytes whole = encode_step(sample());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_THROWS_AS(static_cast<void>(decode_step(BytesView(whole).first(size), "cut")), Error);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (at >= 56 && at < 64) continue;  // reserved
    Bytes changed = whole;
    changed[at] ^= std::byte{0x10};
    CHECK_THROWS_AS(static_cast<void>(decode_step(changed, "changed")), Error);
  }
}

TEST_CASE("another version is named") {
  const Bytes old = read_all(SIDESTREAM_GOLDEN "/step-7-version-1");
  CHECK_THROWS_WITH_AS(static_cast<void>(decode_step(old, "step-7")), doctest::Contains("'step-7' has version 1"),
                       Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(decode_step(old, "step-7")), doctest::Contains("same version of Sidestream"),
                       Error);
}

TEST_CASE("declarations and events come back") {
  const Announced before{Bytes{std::byte{1}, std::byte{2}}, {"burst", "", "a name\nof two lines"}};
  const Announced after = decode_announced(encode_announced(before, 3), "declarations");
  CHECK(after.declarations == before.declarations);
  CHECK(after.events == before.events);
}

TEST_CASE("files of a folder appear whole, and only one of several renames succeeds") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  CHECK_FALSE(folder.get("none").has_value());
  folder.put("a", std::string_view("first"));
  folder.put("a", std::string_view("second"));
  CHECK(folder.text("a") == "second");
  CHECK(folder.put_new("claim", "mine"));
  CHECK_FALSE(folder.put_new("claim", "theirs"));
  CHECK(folder.text("claim") == "mine");
  CHECK(folder.rename("a", "done"));
  CHECK_FALSE(folder.rename("a", "withdrawn"));
  for (const char* name : {"step-3", "step-12", "step-x", ".step-9.part", "step-"})
    folder.put(name, std::string_view());
  CHECK(folder.numbers("step-") == std::vector<std::int64_t>{3, 12});
  folder.clear({"step-"});
  CHECK(folder.numbers("step-").empty());
  CHECK(folder.text("done") == "second");
  CHECK_THROWS_AS(Folder("/proc/none/here").prepare(), Error);
}

TEST_CASE("any part of a block can be read by itself, and damage to the whole is seen") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  MpiCommunicator self(MPI_COMM_SELF);
  const BulkEngine engine = files_engine();
  const auto writer = engine.writer({folder, self, {}, 1});
  const auto reader = engine.reader({folder, self, {}, 1});
  std::mt19937 random(5);

  const Box points{{2, -1, 4}, {9, 5, 10}}, allocated = grown(points, 2);
  StepIndex step;
  step.session = 11;
  step.writers = 1;
  step.blocks = {{0, 0, 0, 0, IndexSpace::box, points}};
  StepRecord record;
  record.variable = 0;
  record.components = 3;
  record.type = Type::int16;
  record.points = points;
  record.bytes = packed_bytes(points, 3, Type::int16);
  step.records = {record, record};
  std::vector<std::int16_t> values(static_cast<std::size_t>(allocated.count()) * 3);
  std::iota(values.begin(), values.end(), std::int16_t{0});
  const ArrayView array{values.data(), Type::int16, MemorySpace::host,
                        allocated,     3,           packed_strides(allocated, 3, Order::row)};
  std::vector<Outgoing> outgoing{{&step.records[0], array}, {&step.records[1], array}};
  writer->put(step, outgoing, 1, [] { return true; });
  CHECK(step.records[1].offset == record.bytes);

  reader->begin(step);
  for (int round = 0; round < 200; ++round) {
    Box wanted = points;
    for (int axis = 0; axis < 3; ++axis) {
      std::uniform_int_distribution<Index> any(points.lo[axis], points.hi[axis] - 1);
      const Index a = any(random), b = any(random);
      if (round % (axis + 2) != 0) continue;  // includes whole rows and layers
      wanted.lo[axis] = std::min(a, b);
      wanted.hi[axis] = std::max(a, b) + 1;
    }
    Bytes got(packed_bytes(wanted, 3, Type::int16)), expected(got.size());
    const Piece piece{&step.records[round % 2], wanted, got.data()};
    reader->read({&piece, 1});
    pack(array, wanted, Order::column, expected);
    CHECK(got == expected);
  }
  reader->end();

  const std::string data = folder.path("data-0.0");
  std::fstream file(data, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(64 + 17);
  file.put('\x55');
  file.close();
  Bytes got(record.bytes);
  const Piece whole{&step.records[0], points, got.data()};
  reader->begin(step);
  CHECK_THROWS_WITH_AS(reader->read({&whole, 1}), doctest::Contains("checksum"), Error);
  fs::resize_file(data, fs::file_size(data) - 1);
  reader->begin(step);
  CHECK_THROWS_WITH_AS(reader->read({&whole, 1}), doctest::Contains("cut off"), Error);
  writer->forget(0, true);
  reader->begin(step);
  CHECK_THROWS_WITH_AS(reader->read({&whole, 1}), doctest::Contains("missing"), Error);
}

TEST_CASE("no link in a stream's directory is followed, in writing and in reading") {
  const Scratch scratch;
  const std::string victim = scratch.path + "/victim", path = scratch.path + "/stream";
  std::ofstream(victim) << "precious";
  fs::create_directory(path);
  for (const char* name : {".declarations.part", "declarations", ".beat.part", "link"}) {
    fs::create_symlink(victim, path + "/" + name);
  }
  const Folder folder(path);
  folder.put("declarations", std::string_view("ours"));
  folder.put("beat", std::string_view("0"));
  CHECK(folder.text("declarations") == "ours");
  CHECK(fs::symlink_status(path + "/declarations").type() == fs::file_type::regular);
  CHECK(read_all(victim).size() == 8);
  CHECK_THROWS_WITH_AS(static_cast<void>(folder.text("link")), doctest::Contains("link"), Error);
  CHECK_THROWS_AS(static_cast<void>(folder.open_to_overwrite("link")), Error);
  // A pipe is refused without waiting for its other end.
  REQUIRE(::mkfifo((path + "/pipe").c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(static_cast<void>(folder.text("pipe")), doctest::Contains("no file of this user"), Error);
}

TEST_CASE("a stream's directory is this user's own, and not for all to write") {
  const Scratch scratch;
  const std::string ours = scratch.path + "/ours", link = scratch.path + "/link";
  const mode_t mask = ::umask(0);
  Folder(ours).prepare();
  ::umask(mask);
  CHECK((fs::status(ours).permissions() & fs::perms::others_write) == fs::perms::none);
  fs::create_directory_symlink(ours, link);
  CHECK_THROWS_WITH_AS(Folder(link).prepare(), doctest::Contains("is a symbolic link"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(Folder(link).text("step-1")), doctest::Contains("symbolic link"), Error);
  fs::permissions(ours, fs::perms::all);
  CHECK_THROWS_WITH_AS(Folder(ours).prepare(), doctest::Contains("written by every user"), Error);
  fs::permissions(ours, fs::perms::all | fs::perms::sticky_bit);
  CHECK_NOTHROW(Folder(ours).prepare());
  if (::geteuid() != 0) {
    MESSAGE("NOT TESTED: directories and files of other users; that takes root");
    return;
  }
  constexpr uid_t somebody = 65534;
  std::ofstream(ours + "/step-1") << "theirs";
  REQUIRE(::chown((ours + "/step-1").c_str(), somebody, somebody) == 0);
  CHECK_THROWS_WITH_AS(static_cast<void>(Folder(ours).text("step-1")), doctest::Contains("no file of this user"),
                       Error);
  REQUIRE(::chown(ours.c_str(), somebody, somebody) == 0);
  CHECK_THROWS_WITH_AS(Folder(ours).prepare(), doctest::Contains("belongs to another user"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(Folder(ours).numbers("step-")), doctest::Contains("another user"), Error);
}
