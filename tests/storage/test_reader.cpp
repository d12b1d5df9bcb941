// The public reader: values of stored databases on several ranks and without MPI, errors on all ranks, damage.
#include "sidestream/reader.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <span>

#include "base/mpi/communicator.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/database/journal.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/scratch.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using sidestream::testing::contains;
using sidestream::testing::message_of;
namespace fs = std::filesystem;

namespace {

const std::string nothing = "nothing was thrown";
const std::string golden = SIDESTREAM_GOLDEN_DIRECTORY;
constexpr Index3 extents{16, 8, 4};
constexpr std::size_t cells = 16 * 8 * 4;

/// The slab of a rank along z, perhaps empty.
Box slab(int rank, int size) { return {{0, 0, extents[2] * rank / size}, {16, 8, extents[2] * (rank + 1) / size}}; }

std::vector<double> read_slab(StoredContext& context, const Box& box) {
  std::vector<double> values(static_cast<std::size_t>(box.count()));
  context.read_box(context.metadata().variables.front().name, 0, box, box, values.data());
  return values;
}

/// All that a context gives out, as bytes.
std::vector<std::byte> everything(StoredContext& context) {
  std::vector<std::byte> all;
  for (const Variable& variable : context.metadata().variables) {
    const std::string& mesh = context.metadata().mesh_of(variable).name;
    for (std::int64_t n = 0; n < context.block_count(mesh); ++n) {
      const std::optional<std::uint64_t> bytes = context.block_bytes(variable.name, n);
      if (!bytes) continue;
      const std::size_t before = all.size();
      all.resize(before + *bytes);
      context.read_block(variable.name, n, all.data() + before, *bytes);
    }
  }
  for (const Mesh& mesh : context.metadata().meshes) {
    if (mesh.kind() != MeshKind::octree && mesh.is_list()) continue;
    const Cells found = context.list_cells(mesh.name);
    const auto* const index = reinterpret_cast<const std::byte*>(found.index().data());
    all.insert(all.end(), index, index + found.size() * sizeof(Index3));
  }
  return all;
}

void copy_database(const std::string& name, const fs::path& to) {
  fs::remove_all(to);
  fs::copy(golden + name, to);
  for (const auto& entry : fs::directory_iterator(to))
    fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
}

}  // namespace

TEST_CASE("each rank reads its part of what every codec wrote") {
  MpiCommunicator comm(testing::test_ranks());
  const Reader reader = Reader::open(testing::test_ranks(), golden + "database-codecs");
  const std::string expected = read_file(golden + "database-codecs-values.raw");
  REQUIRE(reader.contexts().size() == 9);
  const Box mine = slab(comm.rank(), comm.size());
  for (std::size_t n = 0; n < reader.contexts().size(); ++n) {
    StoredContext context = reader.open_context(static_cast<std::int64_t>(n));
    const std::string& variable = context.metadata().variables.front().name;
    CAPTURE(context.codec(variable));
    CHECK(context.iteration().cycle == reader.contexts()[n].iteration.cycle);
    CHECK(reader.find_cycle(context.iteration().cycle) >= static_cast<std::int64_t>(n));
    try {
      const std::vector<double> values = read_slab(context, mine);
      const auto at = n * cells * sizeof(double) + static_cast<std::size_t>(mine.lo[2]) * 128 * sizeof(double);
      CHECK(std::memcmp(values.data(), expected.data() + at, values.size() * sizeof(double)) == 0);
    } catch (const Error& error) {
      CHECK(error.code() == Code::file);  // a codec that this build is without
      CHECK(context.codec(variable).find("z") != std::string::npos);
    }
    // Rank 0 has read the tables of blocks for all.
    if (mine.empty() && comm.rank() > 0) CHECK(context.bytes_read() == 0);
  }
}

TEST_CASE("without a communicator the values are the same") {
  const Reader reader = Reader::open(golden + "database-raw");
  StoredContext context = reader.open_context(static_cast<std::int64_t>(reader.contexts().size()) - 1);
  const Reader together = Reader::open(testing::test_ranks(), golden + "database-raw");
  StoredContext other = together.open_context(static_cast<std::int64_t>(reader.contexts().size()) - 1);
  CHECK(everything(context) == everything(other));
  CHECK(context.bytes_read() > 0);
}

TEST_CASE("all ranks get one error, and the communicator can still be used") {
  MpiCommunicator comm(testing::test_ranks());
  const auto same_on_all = [&](const std::string& said) {
    std::vector<Bytes> all = comm.all_gather(std::as_bytes(std::span(said)));
    for (const Bytes& one : all) CHECK(one == all.front());
    return said;
  };
  CHECK(contains(
      same_on_all(message_of([] { static_cast<void>(Reader::open(testing::test_ranks(), golden + "nowhere")); })),
      "is no database"));
  const Reader reader = Reader::open(testing::test_ranks(), golden + "database-codecs");
  const std::string behind = message_of([&] { static_cast<void>(reader.open_context(99)); });
  const std::string before = message_of([&] { static_cast<void>(reader.open_context(-1)); });
  CHECK(contains(same_on_all(behind), "number 99 of 9"));
  CHECK(contains(same_on_all(before), "counted from 0"));
  if (comm.size() > 1) {
    const std::string said =
        same_on_all(message_of([&] { static_cast<void>(reader.open_context(comm.rank() == 0 ? 0 : 2)); }));
    CHECK(contains(said, "contexts 0 to 2; give the same number"));
  }
  CHECK(contains(message_of([&] { static_cast<void>(reader.find_cycle(12345)); }), "no context of cycle 12345"));
  static_cast<void>(reader.open_context(0));
}

TEST_CASE("what is wrong with a call is said") {
  StoredContext context = Reader::open(golden + "database-codecs").open_context(0);
  const std::string name = context.metadata().variables.front().name;
  const std::string mesh = context.metadata().meshes.front().name;
  double value = 0;
  const auto says = [](const std::string& part, const std::function<void()>& work) {
    const std::string said = message_of(work);
    CHECK_MESSAGE(contains(said, part), said);
  };
  says("the context has no variable 'nothing'", [&] { context.read_block("nothing", 0, &value, 8); });
  says("the context has no mesh 'nothing'", [&] { static_cast<void>(context.block_count("nothing")); });
  says("blocks of '" + mesh + "', counted from 0", [&] { static_cast<void>(context.block(mesh, 1000)); });
  says("but room for 8 was given", [&] { context.read_block(name, 0, &value, 8); });
  says("is no octree", [&] { static_cast<void>(context.tree(mesh, 0)); });
  says("is no list", [&] { static_cast<void>(context.list_length(name)); });
  says("the box has lo 1 and hi 0 along axis 1", [&] {
    context.read_box(name, 0, {{0, 1, 0}, {1, 0, 1}}, {{0, 0, 0}, {1, 1, 1}}, &value);
  });
  says("are in no block of the context", [&] {
    context.read_box(name, 0, {{-1, 0, 0}, {0, 1, 1}}, {{-1, 0, 0}, {0, 1, 1}}, &value);
  });
  const std::uint64_t bytes = context.block_bytes(name, 0).value();
  says("data is null", [&] { context.read_block(name, 0, nullptr, bytes); });
  says("data is null", [&] { context.read_box(name, 0, {{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}, nullptr); });
  CellSelection selection;
  selection.coarsest = 3;
  selection.deepest = 1;
  says("give a range of levels", [&] { static_cast<void>(context.list_cells(mesh, selection)); });
  selection.level = 7;
  says("counts cells of level 7", [&] { static_cast<void>(context.list_cells(mesh, selection)); });
  StoredContext other = Reader::open(golden + "database-codecs").open_context(0);
  const Cells found = other.list_cells(mesh);
  std::vector<double> room(found.size());
  says("data is null", [&] { other.read_cells(name, found, nullptr, found.size() * 8); });
  says("another context has listed", [&] { context.read_cells(name, found, room.data(), room.size() * 8); });
}

TEST_CASE("a context that a run has removed meanwhile is said to be removed") {
  const testing::Scratch folder;
  const std::string place = folder.path + "/data";
  copy_database("database-raw", place);
  const Reader reader = Reader::open(place);
  StoredContext context = reader.open_context(0);
  const std::vector<std::byte> before = everything(context);
  for (const auto& entry : fs::directory_iterator(place)) {
    if (entry.path().extension() == ".h5") fs::remove(entry.path());
  }
  const auto said = [&] { return message_of([&] { static_cast<void>(reader.open_context(0)); }); };
  CHECK_MESSAGE(contains(said(), "cannot open"), said());
  const database::Journal journal = database::read_journal(place);
  const database::Slot removal = database::removal_slot(journal.slots, 0, reader.contexts().front().slot);
  database::append_slot(place, journal.slots, removal, false);
  CHECK_MESSAGE(contains(said(), "was removed by a run"), said());
  CHECK(everything(context) == before);  // its files are still open
}

TEST_CASE("no damage crashes: the values are right, or there is a sentence") {
  if (MpiCommunicator(testing::test_ranks()).size() > 1) return;  // each would do the same
  const testing::Scratch folder;
  const std::string place = folder.path + "/data";
  const std::size_t step = testing::test_all() ? 23 : 411;
  for (const char* const name : {"database-trees/pruned", "database-codecs"}) {
    copy_database(name, place);
    const auto read_all = [&] {
      std::vector<std::vector<std::byte>> all;
      const Reader reader = Reader::open(place);
      for (std::int64_t n = 0; n < static_cast<std::int64_t>(reader.contexts().size()); ++n) {
        StoredContext context = reader.open_context(n);
        all.push_back(everything(context));
      }
      return all;
    };
    std::vector<std::vector<std::byte>> whole;
    const bool is_readable = message_of([&] { whole = read_all(); }) == nothing;  // this build may lack a codec
    std::size_t sentences = 0;
    for (const auto& entry : fs::directory_iterator(place)) {
      const std::string path = entry.path().string(), bytes = read_file(path);
      for (std::size_t at = step / 2; at < bytes.size(); at += step) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x24);
        write_file(path, damaged);
        std::vector<std::vector<std::byte>> found;
        const std::string said = message_of([&] { found = read_all(); });
        sentences += said != nothing ? 1 : 0;
        // A broken slot hides its context, and the others stay.
        if (said == nothing && found.size() == whole.size()) CHECK(found == whole);
      }
      write_file(path, bytes);
    }
    if (is_readable) CHECK(sentences > 0);
  }
}
