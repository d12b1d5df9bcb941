// The door of the placement `sidecar`: who is let in, and what the door word says.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "sidestream/error.hpp"
#include "support/scratch.hpp"
#include "transport/shared_memory/address_note.hpp"
#include "transport/shared_memory/handover.hpp"
#include "transport/sidecar.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using test::Child;
using Result = Attachment::Knock::Result;
using State = DoorWord::State;

namespace {

std::string fresh_name(int pretended = -1) { return door_name(fmt::format("test-{:016x}", random_id()[0]), pretended); }

DoorHello hello(std::uint64_t group, std::uint32_t place) {
  DoorHello hello;
  hello.build = door_build();
  hello.group = {group, 0};
  hello.place = place;
  return hello;
}

/// The door's thread has its own pace.
template <class True>
bool soon(True&& is_true) {
  for (int tries = 0; tries < 20'000; ++tries) {
    if (is_true()) return true;
    test::sleep_us(200);
  }
  return false;
}

struct Fixture {
  explicit Fixture(int servers = 2)
      : name(fresh_name()),
        node(test::make_node(servers, {4096, 1, 0, 0}, 256 << 10)),
        door(std::make_unique<Door>(name, node, DoorOffer{{7, 8}, 3, 4, Bytes(100'000, std::byte{5})})) {}
  [[nodiscard]] DoorWord& word() const { return node->layout().door(node->control()); }
  [[nodiscard]] bool is(std::uint64_t epoch, State state) const {
    return word().load() == (epoch << 2 | static_cast<std::uint64_t>(state));
  }

  std::string name;
  std::shared_ptr<Node> node;
  std::unique_ptr<Door> door;
};

}  // namespace

TEST_CASE("a group has the places together, and others are turned away until all of it has gone") {
  const Fixture f;
  auto one = Attachment::knock(f.name, hello(1, 0));
  REQUIRE(one.result == Result::welcome);
  CHECK(one.attachment->answer().session == Id{7, 8});
  CHECK(one.attachment->answer().node == 3);
  CHECK(one.attachment->answer().nodes == 4);
  CHECK(one.attachment->answer().clients == 1);
  const BytesView declarations = one.attachment->declarations();
  CHECK(Bytes(declarations.begin(), declarations.end()) == Bytes(100'000, std::byte{5}));

  CHECK(Attachment::knock(f.name, hello(1, 0)).result == Result::busy);
  const auto other = Attachment::knock(f.name, hello(2, 1));
  CHECK(other.result == Result::busy);
  CHECK(other.reason.find("other servers") != std::string::npos);
  const auto third = Attachment::knock(f.name, hello(1, 2));
  CHECK(third.result == Result::refused);
  CHECK(third.reason.find("placement.per_node") != std::string::npos);

  auto two = Attachment::knock(f.name, hello(1, 1));
  REQUIRE(two.result == Result::welcome);
  one.attachment->say(DoorSay::go);
  CHECK(Attachment::knock(f.name, hello(2, 0)).result == Result::busy);  // the door has heard `go` by now
  CHECK(f.is(0, State::nobody));
  two.attachment->say(DoorSay::go);
  CHECK(soon([&] { return f.is(1, State::attached); }));
  CHECK(two.attachment->epoch() == 1);

  one.attachment.reset();
  CHECK(soon([&] { return f.is(1, State::nobody); }));
  CHECK(Attachment::knock(f.name, hello(2, 0)).result == Result::busy);
  two.attachment.reset();
  CHECK(soon([&] { return Attachment::knock(f.name, hello(2, 0)).result == Result::welcome; }));
}

TEST_CASE("a group that goes before all its servers have said go was never there") {
  const Fixture f;
  {
    auto one = Attachment::knock(f.name, hello(1, 0)), two = Attachment::knock(f.name, hello(1, 1));
    one.attachment->say(DoorSay::go);
  }
  Attachment::Knock next;
  CHECK(soon([&] { return (next = Attachment::knock(f.name, hello(2, 0))).result == Result::welcome; }));
  CHECK(f.is(0, State::nobody));
  CHECK(next.attachment->epoch() == 1);
}

TEST_CASE("leaving counts when all have said so") {
  const Fixture f;
  auto one = Attachment::knock(f.name, hello(1, 0)), two = Attachment::knock(f.name, hello(1, 1));
  for (auto* knock : {&one, &two}) knock->attachment->say(DoorSay::go);
  REQUIRE(soon([&] { return f.is(1, State::attached); }));
  one.attachment->say(DoorSay::leave);
  SUBCASE("both") {
    one.attachment.reset();
    CHECK(Attachment::knock(f.name, hello(2, 0)).result == Result::busy);
    CHECK(f.is(1, State::attached));
    two.attachment->say(DoorSay::leave);
    CHECK(soon([&] { return f.is(1, State::left); }));
    CHECK(f.word().left_epoch.load() == 1);
  }
  SUBCASE("one leaves, the other dies") {
    two.attachment.reset();
    CHECK(soon([&] { return f.is(1, State::nobody); }));
    CHECK(f.word().left_epoch.load() == 0);
  }
}

TEST_CASE("servers see whether the simulation closed") {
  Fixture f(1);
  auto server = Attachment::knock(f.name, hello(1, 0));
  REQUIRE(server.result == Result::welcome);
  CHECK_FALSE(server.attachment->ended());
  f.door.reset();
  CHECK(server.attachment->ended());
  CHECK(server.attachment->closed());
  CHECK(Attachment::knock(f.name, hello(1, 0)).result == Result::nobody);
}

TEST_CASE("another build is turned away, and so is what is no server") {
  const Fixture f(1);
  DoorHello wrong = hello(1, 0);
  wrong.build ^= 1;
  const auto knock = Attachment::knock(f.name, wrong);
  CHECK(knock.result == Result::refused);
  CHECK(knock.reason.find("build") != std::string::npos);
  wrong = hello(1, 0);
  wrong.magic = 0;
  CHECK(Attachment::knock(f.name, wrong).result == Result::refused);
  CHECK(Attachment::knock(f.name, hello(1, 0)).result == Result::welcome);
}

TEST_CASE("a name is taken once at a time") {
  auto f = std::make_unique<Fixture>(1);
  const std::string name = f->name;
  const auto node = f->node;
  try {
    const Door second(name, node, DoorOffer{});
    FAIL("a second door of the same name");
  } catch (const Error& error) {
    CHECK(error.code() == Code::usage);
    CHECK(std::string(error.what()).find("placement.session") != std::string::npos);
  }
  f->door.reset();
  const Door again(name, node, DoorOffer{});
  CHECK_THROWS_AS(static_cast<void>(door_name(std::string(200, 'x'), -1)), Error);
  CHECK_THROWS_AS(static_cast<void>(door_name("", -1)), Error);
  CHECK(door_name("a", 1) != door_name("a", 2));
}

namespace {

/// Another user's process that has the name, until the end of the test. Tells through `bound` when it has.
Child stranger(const std::string& name, bool listens, std::atomic<int>& bound) {
  return Child([&, name] {
    constexpr uid_t somebody = 65534;
    if (::setuid(somebody) != 0) return 1;
    const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    const AbstractAddress at(name);
    if (bind(socket, reinterpret_cast<const sockaddr*>(&at.address), at.length) != 0) return 2;
    if (listens && ::listen(socket, 8) != 0) return 3;
    bound = 1;
    for (;;) pause();
  });
}

}  // namespace

TEST_CASE("another user who holds the name keeps neither the simulation nor its servers out") {
  if (::geteuid() != 0) {
    MESSAGE("NOT TESTED: names held by another user; that takes root");
    return;
  }
  const testing::Scratch scratch;
  ::setenv("XDG_RUNTIME_DIR", scratch.path.c_str(), 1);
  const test::SharedMemory shared(4096);
  auto& bound = shared.as<std::atomic<int>>();
  const std::string name = fresh_name();
  bool listens = true;
  SUBCASE("and listens") {}
  SUBCASE("and does not listen") { listens = false; }
  const Child other = stranger(name, listens, bound);
  REQUIRE(soon([&] { return bound.load() == 1; }));
  CHECK(Attachment::knock(name, hello(1, 0)).result == Result::nobody);
  const auto node = test::make_node(1, {4096, 1, 0, 0}, 256 << 10);
  {
    const Door door(name, node, DoorOffer{});
    CHECK(Attachment::knock(name, hello(1, 0)).result == Result::welcome);
  }
  CHECK(Attachment::knock(name, hello(1, 0)).result == Result::nobody);
  const auto left = std::distance(std::filesystem::directory_iterator(scratch.path), {});
  CHECK(left == 0);
  // A directory that others can write to is not believed.
  std::filesystem::permissions(scratch.path, std::filesystem::perms::all);
  ::setenv("HOME", "/proc", 1);
  CHECK(note_directories().empty());
  CHECK_THROWS_WITH_AS(Door(name, node, DoorOffer{}), doctest::Contains("XDG_RUNTIME_DIR"), Error);
}

TEST_CASE("a server cannot write values") {
  const Fixture f(1);
  Child server([&] {
    signal(SIGSEGV, SIG_DFL);  // of doctest and MPI, which would write a page about it
    auto knock = Attachment::knock(f.name, hello(1, 0));
    if (knock.result != Result::welcome) return 1;
    if (std::to_integer<int>(knock.attachment->node()->buffer()[8192]) > 255) return 2;
    *const_cast<volatile std::byte*>(knock.attachment->node()->buffer() + 8192) = std::byte{1};
    return 0;
  });
  CHECK(server.wait() == -SIGSEGV);
}

TEST_CASE("no descriptor is left over") {
  const auto open_files = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = open_files();
  {
    const Fixture f(1);
    for (int n = 0; n < 50; ++n) {
      CHECK(soon([&] {
        return Attachment::knock(f.name, hello(static_cast<std::uint64_t>(n), 0)).result == Result::welcome;
      }));
    }
  }
  CHECK(open_files() == before);
}
