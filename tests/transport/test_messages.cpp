// Messages as lines. The receiver knows parts that are left out, notices lost messages, and the layout is the
// documented one.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <random>

#include "sidestream/error.hpp"
#include "transport/in_process/transport.hpp"
#include "transport/sidecar.hpp"

using namespace sidestream;

namespace {

BlockRecord record_of(std::uint32_t number, std::uint32_t revision) {
  BlockRecord record;
  record.block.id = 1000 + number;
  record.block.cells = Box{{0, 0, 0}, {number + 1, revision, 1}};
  record.variable = static_cast<std::int32_t>(number % 3);
  record.bytes = 8 * (number + 1) * revision;
  record.number = number;
  record.revision = revision;
  return record;
}

bool equal(const BlockRecord& a, const BlockRecord& b) {
  return a.block == b.block && a.variable == b.variable && a.bytes == b.bytes && a.number == b.number &&
         a.revision == b.revision;
}

std::string error_of(MessageReader& reader, std::span<const MessageLine> lines) {
  Message message;
  try {
    reader.read(lines, message);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Notice notice_of(std::uint32_t n) {
  Notice notice{n, n % 5, {}};
  notice.payload.resize(n * 37 % (longest_notice + 1), static_cast<std::byte>(n));
  return notice;
}

bool equal(const Notice& a, const Notice& b) {
  return a.iteration == b.iteration && a.kind == b.kind && a.payload == b.payload;
}

}  // namespace

TEST_CASE("the header of a message is laid out as documented") {
  CHECK(sizeof(MessageHeader) == 64);
  CHECK(offsetof(MessageHeader, kind) == 0);
  CHECK(offsetof(MessageHeader, lines) == 4);
  CHECK(offsetof(MessageHeader, sequence) == 8);
  CHECK(offsetof(MessageHeader, segment) == 12);
  CHECK(offsetof(MessageHeader, offset) == 16);
  CHECK(offsetof(MessageHeader, bytes) == 24);
  CHECK(offsetof(MessageHeader, iteration) == 32);
  CHECK(offsetof(MessageHeader, number) == 40);
  MessageWriter writer;
  const auto lines = writer.write_block(record_of(BlockRecord::no_number, 0), 0x0102030405060708, 9);
  const unsigned char expected[24] = {1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1};
  CHECK(lines.size() == 5);
  CHECK(std::memcmp(lines.data(), expected, sizeof expected) == 0);
}

TEST_CASE("a block whose description is known takes one line, and means the same") {
  MessageWriter writer;
  MessageReader reader;
  std::mt19937 random(5);
  std::map<std::uint32_t, std::uint32_t> known;  // revisions
  std::uint32_t revisions = 0;
  int short_ones = 0;
  for (std::uint64_t n = 0; n < 5000; ++n) {
    const std::uint32_t number = random() % 50;
    const bool anonymous = random() % 10 == 0;
    std::uint32_t revision = known[number];
    if (revision == 0 || random() % 4 == 0) revision = ++revisions;
    const BlockRecord record = record_of(anonymous ? BlockRecord::no_number : number, revision);
    const auto lines = writer.write_block(record, n);
    REQUIRE(MessageReader::length(lines.front()) == lines.size());
    const bool should_be_short = !anonymous && known[number] == revision;
    REQUIRE((lines.size() == 1) == should_be_short);
    short_ones += should_be_short;
    if (random() % 5 == 0) continue;  // found no room, so that it is written later, or another one
    Message message;
    reader.read(lines, message);
    writer.sent();
    if (!anonymous) known[number] = revision;
    REQUIRE(message.kind == MessageKind::block);
    REQUIRE(message.offset == n);
    REQUIRE(equal(message.block, record));
  }
  CHECK(short_ones > 1000);
  writer.restart();
  MessageReader other;
  Message message;
  const BlockRecord again = record_of(1, known[1]);
  other.read(writer.write_block(again, 0), message);
  CHECK(equal(message.block, again));
}

TEST_CASE("messages of every kind arrive as they were sent") {
  MessageWriter writer;
  MessageReader reader;
  for (const MessageKind kind :
       {MessageKind::declare, MessageKind::remove, MessageKind::end, MessageKind::close, MessageKind::abandon}) {
    Message sent, got;
    sent.kind = kind;
    sent.block.block = record_of(4, 2).block;
    sent.end.iteration = {7, 70, 0.5};
    sent.end.refused = 3;
    sent.end.other_time = 0.25;
    reader.read(writer.write(sent), got);
    writer.sent();
    CHECK(got.kind == kind);
    if (kind == MessageKind::declare || kind == MessageKind::remove) CHECK(got.block.block == sent.block.block);
    if (kind == MessageKind::end) CHECK(std::memcmp(&got.end, &sent.end, sizeof got.end) == 0);
  }
}

TEST_CASE("what is lost, unknown or too long is an error with a sentence") {
  MessageWriter writer;
  MessageReader reader;
  Message message;
  reader.read(writer.write_block(record_of(2, 1), 0), message);
  writer.sent();
  static_cast<void>(writer.write_block(record_of(2, 1), 0));
  writer.sent();  // and then lost
  CHECK(error_of(reader, writer.write_block(record_of(2, 1), 0)).find("message 2 came where 1 was expected") !=
        std::string::npos);
  MessageReader stranger;
  MessageWriter knows;
  static_cast<void>(knows.write_block(record_of(2, 1), 0));
  knows.sent();
  MessageWriter anew = knows;
  const auto short_one = anew.write_block(record_of(2, 1), 0);
  std::vector<MessageLine> lines(short_one.begin(), short_one.end());
  const std::uint32_t first = 0;
  std::memcpy(&lines[0].bytes[8], &first, 4);
  CHECK(error_of(stranger, lines).find("description 2") != std::string::npos);
  const std::uint32_t kind = 99, many = 1000;
  std::memcpy(&lines[0].bytes[0], &kind, 4);
  CHECK(error_of(stranger, lines).find("kind 99") != std::string::npos);
  std::memcpy(&lines[0].bytes[4], &many, 4);
  CHECK_THROWS_WITH_AS(static_cast<void>(MessageReader::length(lines[0])), doctest::Contains("1000 lines"), Error);
  Notice notice;
  notice.payload.resize(longest_notice + 1);
  CHECK_THROWS_WITH_AS(static_cast<void>(writer.write_notice(notice)), doctest::Contains("too long"), Error);
  InProcessTransport here(1 << 20, WhenFull::wait);
  CHECK_THROWS_AS(static_cast<void>(here.notify(notice)), Error);
}

TEST_CASE("notices in one process") {
  InProcessTransport transport(1 << 20, WhenFull::wait);
  for (std::uint32_t n = 0; n < 3; ++n) CHECK(transport.notify(notice_of(n)));
  const std::vector<Notice> all = transport.news().notices;
  REQUIRE(all.size() == 3);
  for (std::uint32_t n = 0; n < 3; ++n) CHECK(equal(all[n], notice_of(n)));
  CHECK(transport.news().notices.empty());
}

TEST_CASE("notices through shared memory come whole and in order, and wait for a client that does not read") {
  using namespace sidestream::shared_memory;
  const auto clients = test::make_node(1, {32 << 10, 1, 0, 0}, 1 << 20);
  const auto mapped = [&](const Segment& segment) {
    return Segment::adopt(dup(segment.descriptor()), clients->layout().hash, "test", true);
  };
  const auto servers = std::make_shared<Node>(NodeRole{true, 0, 1, 1}, clients->layout(),
                                              mapped(clients->control_segment()), mapped(clients->buffer_segment()));
  Client client(clients, WhenFull::wait, 4, {});
  Server server(servers);
  std::mt19937 random(9);
  std::uint32_t told = 0, read = 0, waited = 0;
  while (read < 3000) {
    for (auto n = random() % 8; n > 0; --n) {
      const bool done = server.notify(notice_of(told));
      told += done;
      waited += !done;
    }
    if (random() % 3) continue;
    for (const Notice& notice : client.news().notices) REQUIRE(equal(notice, notice_of(read++)));
    REQUIRE(read == told);
  }
  CHECK(waited > 100);
}
