// Anybody who can write to a stream's directory can write anything there. Whatever a reader finds in a step or in
// declarations, it gives a sentence or the values that were sent. It never reads or writes beyond its memory.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include "base/mpi/communicator.hpp"
#include "client/declarations.hpp"
#include "staging/server.hpp"
#include "staging/step_builder.hpp"
#include "staging/writer_coordinator.hpp"
#include "support/scratch.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::staging;
using sidestream::testing::Scratch;
using sidestream::testing::test_all;

namespace {

Declarations declared() {
  Declarations all;
  all.set("n", std::int64_t{3});
  Mesh grid;
  grid.name = "grid";
  grid.cells = {{0, 0, 0}, {6, 4, 5}};
  grid.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  grid.refinement = {{2, 2, 2}};
  Mesh other = grid;
  other.name = "other";
  other.geometry = std::make_shared<RectilinearGeometry>(
      Index3{0, 0, 0},
      std::array<std::vector<double>, 3>{std::vector<double>{0, 1, 2, 3, 4, 5, 6}, std::vector<double>{0, 1, 2, 3, 4},
                                         std::vector<double>{0, 1, 2, 3, 4, 5}});
  all.add_mesh(grid);
  all.add_mesh(other);
  Variable density;
  density.name = "density";
  all.add_variable("grid", density);
  Variable velocity;
  velocity.name = "velocity";
  velocity.components = 2;
  velocity.type = Type::float32;
  velocity.centering = Centering::node;
  velocity.order = Order::row;
  all.add_variable("grid", velocity);
  Variable third = density;
  third.name = "third";
  all.add_variable("other", third);
  return all;
}

/// A writer and a reader in one process. Steps go from one to the other through the directory.
class Stream {
 public:
  Stream() : folder_(scratch_.path + "/stream"), self_(MPI_COMM_SELF) {
    folder_.prepare();
    coordinator_ = std::make_unique<WriterCoordinator>(folder_, session, 60);
    coordinator_->announce({declared().encode(), {"burst"}}, "files", 1);
    writer_ = files_engine().writer({folder_, self_, {}, 1});
    StreamConfig config;
    config.directory = scratch_.path;
    config.name = "stream";
    server_ = std::make_unique<Server>(config, self_, 5, std::function<bool()>());
    there_ = Declarations::decode(server_->declarations()).metadata;
    server_->translate(there_, there_, {"burst"});
    for (unsigned n = 0; n < 4096; ++n) values_.push_back(static_cast<std::byte>(n));
  }

  /// Writes a step with two blocks of three arrays and everything that a step may have, and its data file.
  StepIndex record(std::int64_t index) {
    StepIndex step;
    step.session = session;
    step.iteration = {index, 7, 0.5};
    step.events = 1;
    step.writers = 1;
    step.blocks = {{4, 0, 0, 0, IndexSpace::box, {{0, 0, 0}, {3, 4, 5}}},
                   {9, 0, 1, 0, IndexSpace::box, {{6, 0, 0}, {9, 4, 5}}},
                   {4, 1, 0, 0, IndexSpace::box, {{1, 1, 1}, {2, 3, 4}}}};
    const auto add = [&](std::int64_t block, std::int32_t variable) {
      StepRecord& record = step.records.emplace_back();
      const Variable& of = there_.variables[static_cast<std::size_t>(variable)];
      record.block = block;
      record.variable = variable;
      record.components = of.components;
      record.type = of.type;
      record.points = of.points(step.blocks[static_cast<std::size_t>(block)].cells);
      record.bytes = packed_bytes(record.points, record.components, record.type);
      record.number = static_cast<std::int32_t>(step.records.size()) - 1;
    };
    add(0, 0);
    add(1, 1);
    add(2, 2);
    BlockRange range;
    range.block = 4;
    range.variable = 0;
    range.all = {-1, 1};
    step.ranges = {range};
    step.counted = {{4, 9, 0, 0, {0, 1}}};
    std::vector<Outgoing> outgoing;
    for (StepRecord& one : step.records) {
      outgoing.push_back({&one,
                          {values_.data(), one.type, MemorySpace::host, one.points, one.components,
                           packed_strides(one.points, one.components, Order::column)}});
    }
    writer_->put(step, outgoing, 1, [] { return true; });
    return step;
  }

  /// Gives the reader this file as the step of that iteration, and reads it as a server does. True if the values came,
  /// which then are those that were written. Otherwise a sentence tells why not.
  bool read(std::int64_t index, const Bytes& file) {
    folder_.put("step-" + std::to_string(index), file);
    REQUIRE(server_->receive(std::chrono::seconds(5)));
    bool good = false;
    const Inbox& inbox = server_->state(index).inbox;
    if (inbox.end.refused) {
      CHECK(inbox.blocks.empty());
    } else {
      good = use(index, inbox);
    }
    server_->release(index, Outcome::delivered);
    writer_->forget(index, true);
    coordinator_->forget(index);
    return good;
  }

  static constexpr std::uint64_t session = 11;

 private:
  bool use(std::int64_t index, const Inbox& inbox) {
    server_->advance(index);
    try {
      std::vector<Wanted> wanted;
      for (const Arrival& arrival : inbox.blocks) {
        const BlockRecord& record = arrival.record;
        wanted.push_back({record.block, record.variable, 0, record.points()});
        Box part = record.points();
        if (part.empty()) continue;
        part.hi[1] = part.lo[1] + 1;
        wanted.push_back({record.block, record.variable, 0, part});
      }
      const std::vector<const std::byte*> values = server_->fetch(index, wanted, false);
      for (std::size_t n = 0; n < wanted.size(); ++n) check(wanted[n], values[n]);
      const std::vector<RangeRequest> requests{{0, 0}, {1, 0}, {1, 1}, {2, 0}};
      return server_->ranges(index, requests, {}).blocks.size() >= inbox.blocks.size();
    } catch (const Error& e) {
      CHECK(std::string(e.what()).size() > 20);
      return false;
    }
  }

  /// Reads all values, so that a sanitizer sees if memory is missing.
  void check(const Wanted& wanted, const std::byte* values) {
    if (!values) return;
    const Variable& of = there_.variables[static_cast<std::size_t>(wanted.variable)];
    const std::uint64_t bytes = packed_bytes(wanted.points, of.components, of.type);
    sum_ = std::accumulate(values, values + bytes, sum_,
                           [](unsigned sum, std::byte byte) { return sum + std::to_integer<unsigned>(byte); });
  }

  Scratch scratch_;
  Folder folder_;
  MpiCommunicator self_;
  std::unique_ptr<WriterCoordinator> coordinator_;
  std::unique_ptr<BulkWriter> writer_;
  std::unique_ptr<Server> server_;
  Metadata there_;
  Bytes values_;
  unsigned sum_ = 0;
};

constexpr std::size_t header_bytes = sizeof(FileHeader);

/// The file with checksums that match its contents.
Bytes sealed(Bytes file) {
  FileHeader header;
  std::memcpy(static_cast<void*>(&header), file.data(), sizeof header);
  header.bytes = file.size() - header_bytes;
  header.checksum = checksum(BytesView(file).subspan(header_bytes));
  header.own_checksum = checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(FileHeader, own_checksum)));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

/// Changes every word of the contents, one after the other, by `change`.
template <class Word>
void each_word(const Bytes& file, const std::vector<Word>& replacements, const std::function<void(Bytes)>& use) {
  for (std::size_t at = header_bytes; at + sizeof(Word) <= file.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, file.data() + at, sizeof word);
    for (const Word replacement : replacements) {
      for (const Word value : {replacement, static_cast<Word>(word + replacement)}) {
        if (value == word) continue;
        Bytes changed = file;
        std::memcpy(changed.data() + at, &value, sizeof value);
        use(sealed(std::move(changed)));
      }
    }
  }
}

}  // namespace

TEST_CASE("whatever word of a step is changed, its values come or a sentence does") {
  Stream stream;
  std::int64_t index = 0;
  REQUIRE(stream.read(index, encode_step(stream.record(index))));
  const std::size_t size = encode_step(stream.record(++index)).size();
  int refused = 0, used = 0;
  // Each step has its own number in the header, so the same change is made to one step after another.
  const auto try_change = [&](const std::function<void(Bytes&)>& change) {
    Bytes file = encode_step(stream.record(++index));
    change(file);
    ++(stream.read(index, sealed(std::move(file))) ? used : refused);
  };
  // In `make test` every other word gets the first and third value, the others get the other two.
  std::size_t n = 0;
  for (std::size_t at = header_bytes; at + 4 <= size; at += 4) {
    for (const std::uint32_t value : {0u, 1u, 0x80000001u, 0xffffffffu}) {
      if ((++n + at / 4) % 2 != 0 && !test_all()) continue;
      try_change([&](Bytes& file) { std::memcpy(file.data() + at, &value, sizeof value); });
    }
  }
  std::mt19937 random(3);
  for (int round = 0; round < (test_all() ? 100 : 50); ++round) {
    const auto bytes = 1 + random() % 4;
    try_change([&](Bytes& file) {
      for (unsigned b = 0; b < bytes; ++b) file[header_bytes + random() % (size - header_bytes)] = std::byte(random());
    });
  }
  for (std::size_t at = header_bytes; at < size; at += test_all() ? 24 : 48)
    try_change([&](Bytes& file) { file.resize(at); });
  CHECK(refused > (test_all() ? 200 : 100));
  CHECK(used > (test_all() ? 30 : 15));  // cycle, time, ranges and clients may be anything
  ++index;
  CHECK(stream.read(index, encode_step(stream.record(index))));
}

TEST_CASE("whatever word of the declarations is changed, they are read or refused with a sentence") {
  const Bytes good = encode_announced({declared().encode(), {"burst", "flare"}}, 3);
  int refused = 0, read = 0;
  const auto use = [&](const Bytes& file) {
    try {
      const Metadata metadata = Declarations::decode(decode_announced(file, "declarations").declarations).metadata;
      ++read;
      // Everything else relies on these.
      for (const Variable& variable : metadata.variables) {
        const Mesh& mesh = metadata.mesh_of(variable);
        CHECK(static_cast<int>(variable.type) < type_count);
        CHECK(variable.components > 0);
        CHECK(mesh.ratio_to(static_cast<std::int32_t>(mesh.refinement.size()))[0] > 0);
      }
    } catch (const Error& e) {
      CHECK(std::string(e.what()).find("internal") == std::string::npos);
      CHECK(e.code() == Code::file);
      ++refused;
    }
  };
  use(good);
  REQUIRE(read == 1);
  for (std::size_t at = header_bytes; at < good.size(); ++at) {
    for (const unsigned byte : {0u, 1u, 2u, 0x7fu, 0x80u, 0xffu}) {
      Bytes changed = good;
      changed[at] = std::byte(byte);
      use(sealed(std::move(changed)));
    }
  }
  each_word<std::uint64_t>(good, {0, 1, 1ull << 31, 1ull << 62, 1ull << 63, ~0ull}, use);
  for (std::size_t size = header_bytes; size < good.size(); ++size) {
    use(sealed(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))));
  }
  CHECK(refused > 200);
}
