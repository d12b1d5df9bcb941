// The listener of the placement `sidecar`: which groups it accepts, and the service state.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "base/unix_socket.hpp"
#include "sidestream/error.hpp"
#include "support/scratch.hpp"
#include "transport/shared_memory/sidecar/attach_protocol.hpp"
#include "transport/sidecar.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using test::Child;
using Result = Attachment::Attempt::Result;
using Phase = ServiceState::Phase;

namespace {

std::string fresh_name(int pretended = -1) {
  return listener_name(fmt::format("test-{:016x}", random_id()[0]), pretended);
}

AttachRequest request(std::uint64_t group, std::uint32_t place) {
  AttachRequest request;
  request.build = shared_memory_build();
  request.group = {group, 0};
  request.place = place;
  return request;
}

/// Waits until a condition is true, because the listener's thread has its own pace.
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
        listener(std::make_unique<Listener>(name, node, ListenerOffer{{7, 8}, 3, 4, Bytes(100'000, std::byte{5})})) {}
  [[nodiscard]] ServiceState& service() const { return node->layout().service(node->control()); }
  [[nodiscard]] bool is(std::uint64_t epoch, Phase phase) const {
    return service().load() == (epoch << 2 | static_cast<std::uint64_t>(phase));
  }

  std::string name;
  std::shared_ptr<Node> node;
  std::unique_ptr<Listener> listener;
};

}  // namespace

TEST_CASE("one group has all places, and others are turned away until it has gone") {
  const Fixture f;
  auto one = Attachment::attempt(f.name, request(1, 0));
  REQUIRE(one.result == Result::accepted);
  CHECK(one.attachment->answer().session == Id{7, 8});
  CHECK(one.attachment->answer().node == 3);
  CHECK(one.attachment->answer().nodes == 4);
  CHECK(one.attachment->answer().clients == 1);
  const BytesView declarations = one.attachment->declarations();
  CHECK(Bytes(declarations.begin(), declarations.end()) == Bytes(100'000, std::byte{5}));

  CHECK(Attachment::attempt(f.name, request(1, 0)).result == Result::busy);
  const auto other = Attachment::attempt(f.name, request(2, 1));
  CHECK(other.result == Result::busy);
  CHECK(other.reason.find("other servers") != std::string::npos);
  const auto third = Attachment::attempt(f.name, request(1, 2));
  CHECK(third.result == Result::refused);
  CHECK(third.reason.find("placement.per_node") != std::string::npos);

  auto two = Attachment::attempt(f.name, request(1, 1));
  REQUIRE(two.result == Result::accepted);
  one.attachment->signal(AttachSignal::go);
  CHECK(Attachment::attempt(f.name, request(2, 0)).result == Result::busy);  // the listener has heard `go` by now
  CHECK(f.is(0, Phase::nobody));
  two.attachment->signal(AttachSignal::go);
  CHECK(soon([&] { return f.is(1, Phase::attached); }));
  CHECK(two.attachment->epoch() == 1);

  one.attachment.reset();
  CHECK(soon([&] { return f.is(1, Phase::nobody); }));
  CHECK(Attachment::attempt(f.name, request(2, 0)).result == Result::busy);
  two.attachment.reset();
  CHECK(soon([&] { return Attachment::attempt(f.name, request(2, 0)).result == Result::accepted; }));
}

TEST_CASE("a group that goes before all its servers have said go was never there") {
  const Fixture f;
  {
    auto one = Attachment::attempt(f.name, request(1, 0)), two = Attachment::attempt(f.name, request(1, 1));
    one.attachment->signal(AttachSignal::go);
  }
  Attachment::Attempt next;
  CHECK(soon([&] { return (next = Attachment::attempt(f.name, request(2, 0))).result == Result::accepted; }));
  CHECK(f.is(0, Phase::nobody));
  CHECK(next.attachment->epoch() == 1);
}

TEST_CASE("leaving counts when all have said so") {
  const Fixture f;
  auto one = Attachment::attempt(f.name, request(1, 0)), two = Attachment::attempt(f.name, request(1, 1));
  for (auto* attempt : {&one, &two}) attempt->attachment->signal(AttachSignal::go);
  REQUIRE(soon([&] { return f.is(1, Phase::attached); }));
  one.attachment->signal(AttachSignal::leave);
  SUBCASE("both") {
    one.attachment.reset();
    CHECK(Attachment::attempt(f.name, request(2, 0)).result == Result::busy);
    CHECK(f.is(1, Phase::attached));
    two.attachment->signal(AttachSignal::leave);
    CHECK(soon([&] { return f.is(1, Phase::left); }));
    CHECK(f.service().left_epoch.load() == 1);
  }
  SUBCASE("one leaves, the other dies") {
    two.attachment.reset();
    CHECK(soon([&] { return f.is(1, Phase::nobody); }));
    CHECK(f.service().left_epoch.load() == 0);
  }
}

TEST_CASE("servers see whether the simulation closed") {
  Fixture f(1);
  auto server = Attachment::attempt(f.name, request(1, 0));
  REQUIRE(server.result == Result::accepted);
  CHECK_FALSE(server.attachment->ended());
  f.listener.reset();
  CHECK(server.attachment->ended());
  CHECK(server.attachment->closed());
  CHECK(Attachment::attempt(f.name, request(1, 0)).result == Result::nobody);
}

TEST_CASE("another build is turned away, and so is anything but a server") {
  const Fixture f(1);
  AttachRequest wrong = request(1, 0);
  wrong.build ^= 1;
  const auto attempt = Attachment::attempt(f.name, wrong);
  CHECK(attempt.result == Result::refused);
  CHECK(attempt.reason.find("build") != std::string::npos);
  wrong = request(1, 0);
  wrong.magic = 0;
  CHECK(Attachment::attempt(f.name, wrong).result == Result::refused);
  CHECK(Attachment::attempt(f.name, request(1, 0)).result == Result::accepted);
}

TEST_CASE("a name is taken once at a time") {
  auto f = std::make_unique<Fixture>(1);
  const std::string name = f->name;
  const auto node = f->node;
  try {
    const Listener second(name, node, ListenerOffer{});
    FAIL("a second listener of the same name");
  } catch (const Error& error) {
    CHECK(error.code() == Code::usage);
    CHECK(std::string(error.what()).find("placement.session") != std::string::npos);
  }
  f->listener.reset();
  const Listener again(name, node, ListenerOffer{});
  CHECK_THROWS_AS(static_cast<void>(listener_name(std::string(200, 'x'), -1)), Error);
  CHECK_THROWS_AS(static_cast<void>(listener_name("", -1)), Error);
  CHECK(listener_name("a", 1) != listener_name("a", 2));
}

namespace {

/// A process of another user that has the name until the end of the test. Sets `bound` when it has it.
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
  CHECK(Attachment::attempt(name, request(1, 0)).result == Result::nobody);
  const auto node = test::make_node(1, {4096, 1, 0, 0}, 256 << 10);
  {
    const Listener listener(name, node, ListenerOffer{});
    CHECK(Attachment::attempt(name, request(1, 0)).result == Result::accepted);
  }
  CHECK(Attachment::attempt(name, request(1, 0)).result == Result::nobody);
  const auto left = std::distance(std::filesystem::directory_iterator(scratch.path), {});
  CHECK(left == 0);
  // A directory that others can write to is not trusted.
  std::filesystem::permissions(scratch.path, std::filesystem::perms::all);
  ::setenv("HOME", "/proc", 1);
  CHECK(address_directories().empty());
  CHECK_THROWS_WITH_AS(Listener(name, node, ListenerOffer{}), doctest::Contains("XDG_RUNTIME_DIR"), Error);
}

TEST_CASE("a server cannot write values") {
  const Fixture f(1);
  Child server([&] {
    signal(SIGSEGV, SIG_DFL);  // removes the handler of doctest and MPI, which would write a page about it
    auto attempt = Attachment::attempt(f.name, request(1, 0));
    if (attempt.result != Result::accepted) return 1;
    if (std::to_integer<int>(attempt.attachment->node()->buffer()[8192]) > 255) return 2;
    *const_cast<volatile std::byte*>(attempt.attachment->node()->buffer() + 8192) = std::byte{1};
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
        return Attachment::attempt(f.name, request(static_cast<std::uint64_t>(n), 0)).result == Result::accepted;
      }));
    }
  }
  CHECK(open_files() == before);
}
