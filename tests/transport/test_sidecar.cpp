// Servers of the placement `sidecar` are killed in every state and at random moments, and simulations, too.
#include <fmt/format.h>

#include "support/test_all.hpp"
#include "transport/sidecar.hpp"

#include "sidestream/error.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using namespace std::chrono_literals;
using test::Child;
using test::Death;
using test::SharedMemory;
using testing::test_all;

namespace {

std::string fresh_name() { return listener_name(fmt::format("test-{:016x}", random_id()[0]), -1); }

/// Runs the simulation in a child and `groups` beside it, and checks what both report.
template <class Groups>
void with_simulation(WhenFull when_full, Groups&& groups) {
  SharedMemory memory(4096);
  auto& ledger = memory.as<test::Ledger>();
  const std::string name = fresh_name();
  Child simulation([&] {
    test::Simulation(name, when_full, ledger).run(100);
    return 0;
  });
  groups(name, ledger, simulation);
  ledger.stop = 1;
  CHECK(simulation.wait() == 0);
  CHECK_MESSAGE(ledger.wrong.load() == 0, "the last one in line ", ledger.wrong_at.load());
  CHECK(ledger.leaked.load() == 0);
  CHECK(ledger.delivered + ledger.refused + ledger.lost == ledger.iterations.load());
  MESSAGE(fmt::format("{} iterations: {} delivered, {} refused, {} lost; servers checked {}", ledger.iterations.load(),
                      ledger.delivered.load(), ledger.refused.load(), ledger.lost.load(), ledger.served.load()));
}

}  // namespace

TEST_CASE("servers killed in every state; the next group finds everything in order") {
  for (const WhenFull when_full : {WhenFull::wait, WhenFull::skip}) {
    with_simulation(when_full, [](const std::string& name, test::Ledger& ledger, Child&) {
      for (int round = 0; round < 20; ++round) {
        for (const Death death : {Death::welcomed, Death::went, Death::joined, Death::received, Death::announced,
                                  Death::released, Death::never}) {
          Child server([&] { return test::serve(name, ledger, death, 20); });
          REQUIRE(server.wait() == (death == Death::never ? 0 : -SIGKILL));
        }
      }
      CHECK(ledger.served.load() >= 20 * 20);
      CHECK(ledger.kept_arrays.load() >= 20 * 20);
    });
  }
}

TEST_CASE("servers killed at random moments, a thousand in all") {
  const int most = test_all() ? 500 : 80;
  for (const WhenFull when_full : {WhenFull::wait, WhenFull::skip}) {
    with_simulation(when_full, [&](const std::string& name, test::Ledger& ledger, Child&) {
      std::mt19937 random(17);
      for (int kills = 0; kills < most; ++kills) {
        Child server([&] { return test::serve(name, ledger, Death::never, INT64_MAX); });
        test::sleep_us(static_cast<long>(random() % (kills % 2 ? 3'000 : 15'000)));
        server.kill();
      }
      CHECK(ledger.served.load() > (test_all() ? 1000 : most / 2));
    });
  }
}

TEST_CASE("servers that leave in order leave nothing in doubt") {
  for (const WhenFull when_full : {WhenFull::wait, WhenFull::skip}) {
    with_simulation(when_full, [](const std::string& name, test::Ledger& ledger, Child&) {
      for (int group = 0; group < 60; ++group) {
        Child server([&] { return test::serve(name, ledger, Death::never, 1 + group % 9); });
        REQUIRE(server.wait() == 0);
      }
      ledger.stop = 1;
      while (ledger.delivered + ledger.refused + ledger.lost < ledger.iterations.load()) test::sleep_us(1000);
      CHECK(ledger.lost.load() == 0);
      // Delivered iterations are those that servers had and that were whole. Under `skip` the client refuses some by
      // itself.
      CHECK(ledger.delivered.load() <= ledger.served.load());
      CHECK(ledger.delivered.load() > 60);
    });
  }
}

TEST_CASE("a simulation killed at a random moment: servers finish what it had ended, and know that it did not close") {
  std::mt19937 random(3);
  int served = 0;
  for (int kills = 0; kills < 60; ++kills) {
    SharedMemory memory(4096);
    auto& ledger = memory.as<test::Ledger>();
    const std::string name = fresh_name();
    Child simulation([&] {
      test::Simulation(name, WhenFull::wait, ledger).run(100);
      return 0;
    });
    Child server([&] { return test::serve(name, ledger, Death::never, INT64_MAX, 500); });
    while (kills % 2 && ledger.served.load() == 0) test::sleep_us(100);
    test::sleep_us(static_cast<long>(random() % 5'000));
    if (ledger.iterations.load() == 0) continue;  // it may not have a listener yet
    simulation.kill();
    const std::int64_t ended = ledger.iterations.load();
    const int result = server.wait();
    CHECK((result == 3 || (result == 1 && ledger.served.load() == 0)));
    CHECK(ledger.wrong.load() == 0);
    // The server finishes all ended iterations, and at most one more that the dead simulation did not count.
    if (result == 3 && ledger.served.load() > 0) {
      CHECK(ledger.served.load() <= ended + 1);
      CHECK(ledger.served.load() + (ended - ledger.attached.load()) >= ended - 1);
      ++served;
    }
  }
  CHECK(served > 20);
}

TEST_CASE("a server that is there when the simulation closes is told so") {
  SharedMemory memory(4096);
  auto& ledger = memory.as<test::Ledger>();
  const std::string name = fresh_name();
  const auto node = test::make_node(1, {32 << 10, 1, 0, 0}, 384 << 10);
  Child server([&] { return test::serve(name, ledger, Death::never, INT64_MAX); });
  {
    auto listener = std::make_shared<Listener>(name, node, ListenerOffer{});
    SidecarClient client(node, listener, WhenFull::wait, 8, {}, false);
    listener.reset();
    while (!client.begin()) client.end({});
    client.end({});
    CHECK(client.drain(5s));
  }
  CHECK(server.wait() == 2);
}
