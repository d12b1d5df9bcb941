// Both ends of the placement `nodes` over all ranks. The first ranks are servers, the others are clients that do
// different things in every iteration. Servers fetch random pieces, and compare values with a world without messages.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/mpi/communicator.hpp"
#include "support/ranks.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/server.hpp"
#include "transport/mpi_world.hpp"
#include "transport/shared_memory/memory_limit.hpp"

using namespace sidestream;
using sidestream::testing::MpiWorld;

namespace {

const std::vector<Variable> variables = sidestream::testing::mpi_world_variables();
constexpr std::int64_t iterations = 25;

struct Layout {
  int servers = 1, clients = 1;
  [[nodiscard]] int contact(int client) const { return client * servers / clients; }
};

/// True in iterations that the client refuses; nobody uses these.
bool refuses(std::int64_t iteration, int client) { return iteration % 7 == 3 && client == 0; }

void publish(ClientTransport& transport, const MpiWorld& world, std::int64_t n, int client) {
  REQUIRE(transport.begin());
  for (const BlockChange& change : world.step(n, client).changes) transport.declare(change.block, change.removed != 0);
  for (const auto& [v, id] : world.step(n, client).publications) {
    const Variable& variable = variables[static_cast<std::size_t>(v)];
    BlockRecord record;
    record.block = world.blocks(n).at(id);
    record.variable = v;
    record.components = variable.components;
    record.type = variable.type;
    record.order = variable.order;
    record.centering = variable.centering;
    record.persistent = v == 2;
    const Box points = record.points();
    record.box = points.empty() ? points : grown(points, (id + v) % 3);
    record.bytes = packed_bytes(record.box, record.components, record.type);
    const std::optional<Region> region = transport.reserve(record.bytes, record.persistent != 0);
    REQUIRE(region);
    MpiWorld::visit(variable, record.block, n, record.box, region->data, [&](void* element, int value, bool counts) {
      sidestream::testing::store(variable.type, element, counts ? value : -1);
    });
    transport.commit(record, *region, false);
  }
  EndRecord end;
  end.iteration = {n, 10 * n, 0.5 * static_cast<double>(n)};
  end.refused = refuses(n, client);
  transport.end(end);
}

/// Runs a client; returns the bytes that left it.
std::int64_t simulate(ClientTransport& transport, const MpiWorld& world, int client) {
  for (std::int64_t n = 0; n < iterations; ++n) publish(transport, world, n, client);
  REQUIRE(transport.drain(std::chrono::seconds(40)));
  std::int64_t bytes = 0;
  for (std::int64_t n = 0; n < iterations; ++n) {
    const Settled settled = transport.outcome(n);
    CHECK(settled.outcome == (n % 7 == 3 ? Outcome::refused : Outcome::delivered));
    bytes += static_cast<std::int64_t>(settled.bytes_sent);
  }
  CHECK(transport.news().failure == "planned");
  return bytes;
}

/// Chooses random blocks, also parts, repeated blocks, and blocks that were not published. Each server chooses others.
std::vector<Wanted> want(const MpiWorld& world, std::int64_t n, std::mt19937& random) {
  std::vector<Wanted> wanted;
  for (const auto& [id, block] : world.blocks(n)) {
    for (const Variable& variable : variables) {
      if (random() % 2) continue;
      Wanted piece{block, variable.id, 0, variable.points(block.cells)};
      if (random() % 3 == 0) {
        for (int a = 0; a < 3 && !piece.points.empty(); ++a) {
          piece.points.lo[a] += static_cast<Index>(random() % static_cast<unsigned>(piece.points.extent(a)));
          piece.points.hi[a] -= static_cast<Index>(random() % static_cast<unsigned>(piece.points.extent(a)));
        }
      }
      wanted.push_back(piece);
    }
  }
  std::shuffle(wanted.begin(), wanted.end(), random);
  return wanted;
}

/// Compares fetched values with the world. Returns the bytes that should have come from clients.
std::int64_t compare(const MpiWorld& world, std::int64_t n, const std::vector<Wanted>& wanted,
                     const std::vector<const std::byte*>& values) {
  REQUIRE(values.size() == wanted.size());
  std::int64_t bytes = 0, wrong = 0;
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    const Wanted& piece = wanted[w];
    const Variable& variable = variables[static_cast<std::size_t>(piece.variable)];
    const std::optional<std::int64_t> version = world.version(n, piece.variable, piece.block.id);
    if (piece.points.empty()) continue;  // with or without an address
    REQUIRE((values[w] != nullptr) == version.has_value());
    if (!version) continue;
    bytes += static_cast<std::int64_t>(packed_bytes(piece.points, variable.components, variable.type));
    MpiWorld::visit(variable, piece.block, *version, piece.points, const_cast<std::byte*>(values[w]),
                    [&](const void* element, int value, bool counts) {
                      wrong += !counts || !sidestream::testing::holds(variable.type, element, value);
                    });
  }
  CHECK(wrong == 0);
  return bytes;
}

/// The blocks of this server's own clients.
void compare_table(ServerTransport& transport, const MpiWorld& world, std::int64_t n, const Layout& layout,
                   int server) {
  std::map<std::int64_t, Block> expected, found;
  for (const auto& [id, block] : world.blocks(n)) {
    if (layout.contact(block.client) == server) expected.emplace(id, block);
  }
  for (const Block& block : transport.state(n).tables.blocks) found.emplace(block.id, block);
  CHECK(found == expected);
  CHECK(transport.state(n).tables.blocks.size() == expected.size());
}

/// Compares the ranges of a variable on the blocks of this server's own clients.
void compare_ranges(ServerTransport& transport, const MpiWorld& world, std::int64_t n, const Layout& layout,
                    int server) {
  const RangeRequest requests[] = {{1, 1}, {2, 0}};
  std::set<std::pair<std::int32_t, std::int64_t>> seen;
  for (const BlockRange& range : transport.ranges(n, requests, {}).blocks) {
    const Variable& variable = variables[static_cast<std::size_t>(range.variable)];
    const Block& block = world.blocks(n).at(range.block);
    CHECK(layout.contact(block.client) == server);
    CHECK(seen.emplace(range.variable, range.block).second);
    const std::optional<std::int64_t> version = world.version(n, range.variable, range.block);
    REQUIRE(version);
    int low = INT32_MAX, high = INT32_MIN, at = 0;
    MpiWorld::visit(variable, block, *version, variable.points(block.cells), nullptr, [&](void*, int value, bool) {
      if (at++ % variable.components != (range.variable == 1 ? 1 : 0)) return;
      low = std::min(low, value);
      high = std::max(high, value);
    });
    CHECK(range.all.minimum == low);
    CHECK(range.all.maximum == high);
  }
  std::size_t expected = 0;
  for (const auto& [id, block] : world.blocks(n)) {
    const bool mine = layout.contact(block.client) == server && !block.cells.empty();
    for (const RangeRequest& request : requests) expected += mine && world.version(n, request.variable, id);
  }
  CHECK(seen.size() == expected);
}

/// Runs a server. Returns the bytes that should have left the clients if values are fetched.
std::int64_t serve(mpi::Server& transport, MpiCommunicator& servers, const MpiWorld& world, const Layout& layout) {
  std::mt19937 random(static_cast<unsigned>(servers.rank()) + 77);
  servers.set_meanwhile([&] { static_cast<void>(transport.receive(std::chrono::microseconds(0))); });
  std::int64_t bytes = 0;
  for (std::int64_t n = 0; n < iterations; ++n) {
    while (transport.state(n).pending > 0) static_cast<void>(transport.receive(std::chrono::milliseconds(1)));
    CHECK(transport.state(n).ended == transport.traits().clients);
    std::int64_t refused = static_cast<std::int64_t>(transport.state(n).inbox.end.refused);
    servers.maximum(std::span(&refused, 1));
    CHECK(refused == (n % 7 == 3));
    transport.advance(n);
    compare_table(transport, world, n, layout, servers.rank());
    if (!refused) {
      compare_ranges(transport, world, n, layout, servers.rank());
      for (int round = 0; round < 2; ++round) {
        const std::vector<Wanted> wanted = want(world, n, random);
        bytes += compare(world, n, wanted, transport.fetch(n, wanted, false));
        servers.barrier();  // as the engine agrees on how it went: all have what they asked for
      }
      if (n % 2 == 0) transport.release(n, Outcome::pending);
    }
    if (n == 5) transport.post_failure("planned");
    transport.release(n, refused ? Outcome::refused : Outcome::delivered);
  }
  std::int64_t done = 0;
  while (!done) {  // until all clients have closed
    static_cast<void>(transport.receive(std::chrono::milliseconds(1)));
    done = transport.state(iterations).pending == 0;
    servers.minimum(std::span(&done, 1));
  }
  servers.set_meanwhile({});
  return bytes;
}

void run(const Layout& layout, mpi::Moving moving, unsigned seed) {
  const auto comm = std::make_shared<MpiCommunicator>(testing::test_ranks());
  const MpiWorld world(seed, layout.clients, iterations);
  const bool serves = comm->rank() < layout.servers;
  const std::unique_ptr<MpiCommunicator> group = comm->group(serves ? 0 : 1);
  std::int64_t bytes[3] = {0, 0, 0};  // that left clients, that came to servers, that should have been fetched
  if (serves) {
    mpi::Server::Options options;
    options.moving = moving;
    for (const Variable& variable : variables) options.shapes.push_back({variable.type, variable.components});
    for (int client = 0; client < layout.clients; ++client) {
      const int rank = layout.servers + client, contact = layout.contact(client);
      options.holders.push_back(moving == mpi::Moving::pushed ? contact : rank);
      if (contact == comm->rank()) options.contacts.push_back(rank);
    }
    mpi::Server transport(comm, options);
    bytes[2] = serve(transport, *group, world, layout);
    bytes[1] = static_cast<std::int64_t>(transport.bytes_received());
    group->barrier();
  } else {
    mpi::Client::Options options;
    options.contact = layout.contact(group->rank());
    options.limit = 64 << 20;
    options.max_in_flight = 3;
    options.moving = moving;
    mpi::Client transport(comm, options);
    bytes[0] = simulate(transport, world, group->rank());
  }
  comm->sum(bytes);
  if (moving == mpi::Moving::fetched) {
    CHECK(bytes[0] == bytes[2]);
    CHECK(bytes[1] == bytes[2]);
  } else {
    CHECK(bytes[0] > 0);
  }
}

}  // namespace

TEST_CASE("what servers fetch is what clients published") {
  int size = 0, level = 0;
  MPI_Comm_size(testing::test_ranks(), &size);
  MPI_Query_thread(&level);
  for (int servers = 1; servers < size && servers <= 3; ++servers) {
    for (const mpi::Moving moving : {mpi::Moving::fetched, mpi::Moving::pushed}) {
      if (moving == mpi::Moving::fetched) REQUIRE(level == MPI_THREAD_MULTIPLE);
      CAPTURE(servers);
      CAPTURE(static_cast<int>(moving));
      run({servers, size - servers}, moving, static_cast<unsigned>(17 * size + servers));
    }
  }
}

namespace {

constexpr std::uint64_t megabyte = 1 << 20;

/// A block with that many bytes.
BlockRecord bytes_of_client(int client, std::uint64_t bytes) {
  BlockRecord record;
  record.block = Block{client, 0, 0, client, IndexSpace::box, Box{{0, 0, 0}, {static_cast<Index>(bytes), 1, 1}}};
  record.variable = 0;
  record.type = Type::uint8;
  record.box = record.block.cells;
  record.bytes = bytes;
  return record;
}

void publish_bytes(ClientTransport& transport, std::int64_t n, int client, std::uint64_t bytes, bool refuse = false) {
  REQUIRE(transport.begin());
  const BlockRecord record = bytes_of_client(client, bytes);
  if (n == 0) transport.declare(record.block, false);
  if (bytes > 0) {
    const std::optional<Region> region = transport.reserve(bytes, false);
    REQUIRE(region);
    const Bytes values(bytes, static_cast<std::byte>(n));
    transport.fill(*region, values.data(), bytes);
    transport.commit(record, *region, false);
  }
  EndRecord end;
  end.iteration = {n, n, 0};
  end.refused = refuse;
  transport.end(end);
}

/// Runs server 0, without others. `bytes` depends on client and iteration. Before an iteration is looked at, those up
/// to `ahead` later must have ended. Before it is released, and its values have been fetched, those up to `behind`
/// later must have.
void serve_bytes(const std::shared_ptr<MpiCommunicator>& comm, mpi::Moving moving, int count,
                 const std::function<std::uint64_t(std::int64_t, int)>& bytes, int ahead, int behind) {
  mpi::Server::Options options;
  options.moving = moving;
  options.shapes = {{Type::uint8, 1}};
  for (int rank = 1; rank < comm->size(); ++rank) {
    options.contacts.push_back(rank);
    options.holders.push_back(moving == mpi::Moving::pushed ? 0 : rank);
  }
  mpi::Server transport(comm, options);
  const auto await_end_of = [&](std::int64_t n) {
    while (n < count && transport.state(n).pending > 0)
      static_cast<void>(transport.receive(std::chrono::milliseconds(1)));
  };
  for (std::int64_t n = 0; n < count; ++n) {
    await_end_of(n);
    if (n % ahead == 0) await_end_of(n + ahead - 1);
    transport.advance(n);
    std::vector<Wanted> wanted;
    for (int client = 0; client + 1 < comm->size(); ++client) {
      const BlockRecord record = bytes_of_client(client, bytes(n, client));
      if (record.bytes > 0) wanted.push_back({record.block, 0, 0, record.block.cells});
    }
    for (const std::byte* value : transport.fetch(n, wanted, false))
      CHECK((value && *value == static_cast<std::byte>(n)));
    transport.release(n, Outcome::pending);
    await_end_of(n + behind);
    transport.release(n, Outcome::delivered);
  }
  while (transport.state(count).pending > 0) static_cast<void>(transport.receive(std::chrono::milliseconds(1)));
}

}  // namespace

TEST_CASE("memory for one iteration is enough to publish the next while the one before is analysed") {
  const auto comm = std::make_shared<MpiCommunicator>(testing::test_ranks());
  const auto group = comm->group(comm->rank() == 0 ? 0 : 1);
  constexpr int count = 12;
  for (const mpi::Moving moving : {mpi::Moving::fetched, mpi::Moving::pushed}) {
    if (comm->rank() == 0) {
      serve_bytes(
          comm, moving, count, [](std::int64_t, int) { return megabyte; }, 1, 1);
    } else {
      mpi::Client::Options options;
      options.limit = megabyte;
      options.moving = moving;
      mpi::Client transport(comm, options);
      for (std::int64_t n = 0; n < count; ++n) publish_bytes(transport, n, group->rank(), megabyte);
      CHECK(transport.drain(std::chrono::seconds(40)));
    }
    comm->barrier();
  }
}

TEST_CASE("what a server tells its clients comes whole and in order") {
  const auto comm = std::make_shared<MpiCommunicator>(testing::test_ranks());
  constexpr std::int64_t count = 20;
  const auto notice_of = [](std::int64_t n) {
    return Notice{n, static_cast<std::uint32_t>(n % 3),
                  Bytes(static_cast<std::size_t>(n * 100) % longest_notice, static_cast<std::byte>(n))};
  };
  for (const mpi::Moving moving : {mpi::Moving::fetched, mpi::Moving::pushed}) {
    if (comm->rank() == 0) {
      mpi::Server::Options options;
      options.moving = moving;
      for (int rank = 1; rank < comm->size(); ++rank) options.contacts.push_back(rank);
      mpi::Server transport(comm, options);
      for (std::int64_t n = 0; n < count; ++n) {
        while (transport.state(n).pending > 0) static_cast<void>(transport.receive(std::chrono::milliseconds(1)));
        CHECK(transport.notify(notice_of(n)));
        transport.release(n, Outcome::delivered);
      }
      while (transport.state(count).pending > 0) static_cast<void>(transport.receive(std::chrono::milliseconds(1)));
      transport.finish({});
    } else {
      mpi::Client::Options options;
      options.moving = moving;
      mpi::Client transport(comm, options);
      for (std::int64_t n = 0; n < count; ++n) {
        REQUIRE(transport.begin());
        EndRecord end;
        end.iteration = {n, n, 0};
        transport.end(end);
      }
      CHECK(transport.drain(std::chrono::seconds(40)));
      const std::vector<Notice> notices = transport.news().notices;
      REQUIRE(notices.size() == count);
      for (std::int64_t n = 0; n < count; ++n) {
        const Notice& notice = notices[static_cast<std::size_t>(n)];
        CHECK(notice.iteration == n);
        CHECK(notice.kind == notice_of(n).kind);
        CHECK(notice.payload == notice_of(n).payload);
      }
    }
    comm->barrier();
  }
}

namespace {

/// Small values are sent in the packet, large ones after it.
std::uint64_t standing_bytes(int client) { return client % 2 == 0 ? 1000 : 200'000; }

/// All blocks are wanted until iteration `changes`, from then on only the last client's. Returns how many bytes were
/// wanted.
std::int64_t serve_standing(const std::shared_ptr<MpiCommunicator>& comm, int count, std::int64_t changes) {
  mpi::Server::Options options;
  options.shapes = {{Type::uint8, 1}};
  for (int rank = 1; rank < comm->size(); ++rank) {
    options.contacts.push_back(rank);
    options.holders.push_back(rank);
  }
  mpi::Server transport(comm, options);
  std::int64_t bytes = 0;
  for (std::int64_t n = 0; n < count; ++n) {
    while (transport.state(n).pending > 0) static_cast<void>(transport.receive(std::chrono::milliseconds(1)));
    transport.advance(n);
    const bool refused = transport.state(n).inbox.end.refused != 0;
    CHECK(refused == (n % 7 == 3));
    std::vector<Wanted> wanted;
    for (int client = n < changes ? 0 : comm->size() - 2; client + 1 < comm->size(); ++client) {
      const BlockRecord record = bytes_of_client(client, standing_bytes(client));
      wanted.push_back({record.block, 0, 0, record.block.cells});
    }
    for (std::size_t w = 0; w < wanted.size() && !refused; ++w) {
      if (w == 0) {
        const bool again = n == 0 || n == changes;
        const std::vector<const std::byte*> values = transport.fetch(n, wanted, again);
        REQUIRE(values.size() == wanted.size());
        for (std::size_t v = 0; v < values.size(); ++v) {
          const auto size = static_cast<std::size_t>(wanted[v].points.count());
          bytes += static_cast<std::int64_t>(size);
          REQUIRE(values[v] != nullptr);
          CHECK(std::count(values[v], values[v] + size, static_cast<std::byte>(n)) ==
                static_cast<std::ptrdiff_t>(size));
        }
        transport.release(n, Outcome::pending);
      }
    }
    transport.release(n, refused ? Outcome::refused : Outcome::delivered);
  }
  while (transport.state(count).pending > 0) static_cast<void>(transport.receive(std::chrono::milliseconds(1)));
  transport.finish({});
  CHECK(transport.bytes_received() >= static_cast<std::uint64_t>(bytes));
  return bytes;
}

}  // namespace

TEST_CASE("what is wanted in every iteration comes unasked, until something else is wanted") {
  const auto comm = std::make_shared<MpiCommunicator>(testing::test_ranks());
  const auto group = comm->group(comm->rank() == 0 ? 0 : 1);
  constexpr int count =
      60;  // one client refuses the last iteration, and others must not wait for values that they sent for it
  // With the second number the selection never changes.
  for (const std::int64_t changes : {30, 1000}) {
    std::int64_t bytes[2] = {0, 0};  // bytes that were wanted, and that left clients
    if (comm->rank() == 0) {
      bytes[0] = serve_standing(comm, count, changes);
    } else {
      mpi::Client::Options options;
      options.limit = 8 * standing_bytes(group->rank());
      mpi::Client transport(comm, options);
      for (std::int64_t n = 0; n < count; ++n) {
        const bool refuses_this = n % 7 == 3 && group->rank() == 0;
        publish_bytes(transport, n, group->rank(), standing_bytes(group->rank()), refuses_this);
      }
      CHECK(transport.drain(std::chrono::seconds(40)));
      for (std::int64_t n = 0; n < count; ++n) {
        const auto sent = static_cast<std::int64_t>(transport.outcome(n).bytes_sent);
        // Values that left for an iteration that others refused are counted, too; nobody wanted them.
        if (n % 7 != 3 && n <= 30) bytes[1] += sent;
        CHECK(sent % static_cast<std::int64_t>(standing_bytes(group->rank())) == 0);
      }
    }
    comm->sum(bytes);
    std::int64_t expected = 0;
    for (std::int64_t n = 0; n <= 30; ++n) {
      for (int client = 0; client + 1 < comm->size() && n % 7 != 3; ++client) {
        expected += static_cast<std::int64_t>(standing_bytes(client));
      }
    }
    CHECK(bytes[0] > 0);
    if (changes > 30) CHECK(bytes[1] == expected);
  }
}

TEST_CASE("a client with much data uses what the others of its node do not need, and they get it when they need it") {
  const auto comm = std::make_shared<MpiCommunicator>(testing::test_ranks());
  const auto group = comm->group(comm->rank() == 0 ? 0 : 1);
  constexpr int count = 24, ahead = 4;
  // One client after the other has all the data. Four of its iterations fit if it borrows all chunks.
  const auto bytes = [](std::int64_t n, int client) { return n / 8 == client ? megabyte : 0; };
  if (comm->rank() == 0) {
    serve_bytes(comm, mpi::Moving::fetched, count, bytes, ahead, 0);
  } else {
    mpi::Client::Options options;
    options.limit = megabyte;
    options.lender = std::make_shared<shared_memory::SharedLimit>(*group, (ahead - 1) * megabyte);
    mpi::Client transport(comm, options);
    for (std::int64_t n = 0; n < count; ++n) {
      publish_bytes(transport, n, group->rank(), bytes(n, group->rank()));
      group->barrier();  // keeps clients in step, as simulations do, so that nobody borrows for much later iterations
    }
    CHECK(transport.drain(std::chrono::seconds(40)));
  }
  comm->barrier();
}
