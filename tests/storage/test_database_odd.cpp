// Odd things that simulations and people do: odd names, times and cycles, and directories that vanish.
#include <doctest/doctest.h>

#include <cmath>

#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"
#include "storage/support/small_database.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace fs = std::filesystem;

namespace {

struct Fixture {
  [[nodiscard]] database::StoringOptions options(const std::string& folder = "data") const {
    database::StoringOptions made;
    made.directory = scratch.path + "/" + folder;
    made.max_file_size = 1 << 20;
    made.flush = false;
    return made;
  }
  [[nodiscard]] Findings found(const std::string& folder = "data") const {
    return read_all(scratch.path + "/" + folder, SmallDatabase::blocks_of_all(1));
  }
  MpiCommunicator alone{MPI_COMM_SELF};
  Scratch scratch;
};

using Cycles = std::set<std::int64_t>;

}  // namespace

TEST_CASE_FIXTURE(Fixture, "names of variables") {
  const std::string long_name(300, 'x');
  for (const std::string& name :
       {std::string("a/b//c"), std::string("/"), std::string("."), long_name,
        std::string("Druck [\xc2\xb5"
                    "Pa]"),
        std::string("\"quoted\"\\\n\t\x01\x7f"), std::string("null"), std::string("1e5"), std::string(" ")}) {
    CAPTURE(name);
    SmallDatabase database(alone, options());
    database.rename(name);
    database.store(1);
    const database::Journal journal = database::read_journal(options().directory);
    const database::Context context(options().directory, journal.contexts.back());
    CHECK(context.metadata().variables.front().name == name);
  }
  CHECK(found().damaged.empty());
}

TEST_CASE_FIXTURE(Fixture, "times that are no numbers, cycles that come again, go back, or are negative") {
  SmallDatabase database(alone, options());
  const double odd[] = {NAN, -INFINITY, -0.0, 1e-320, 5, 5};
  const std::int64_t cycles[] = {-7, 3, 3, 2, INT64_MIN / 200, INT64_MAX / 200};
  for (int n = 0; n < 6; ++n) database.store(cycles[n], odd[n]);
  const database::Journal journal = database::read_journal(options().directory);
  REQUIRE(journal.contexts.size() == 6);
  for (std::size_t n = 0; n < 6; ++n) {
    CHECK(journal.contexts[n].iteration.cycle == cycles[n]);
    const double time = journal.contexts[n].iteration.time;
    CHECK(std::memcmp(&time, &odd[n], sizeof time) == 0);
  }
  CHECK(candidates(journal, {3, {}}, "data").front().slot == 3);
  CHECK(candidates(journal, {-7, {}}, "data").size() == 1);
  CHECK(found().whole.size() == 5);
  CHECK(found().damaged.empty());
}

TEST_CASE_FIXTURE(Fixture, "paths with spaces, quotes and letters beyond ASCII") {
  const std::string folder = "Ergebnisse \xc3\xbc 'b' \"c\"/{0}%d";
  {
    SmallDatabase database(alone, options(folder));
    database.store(1);
  }
  CHECK(found(folder).whole == Cycles{1});
  CHECK(fs::exists(options(folder).directory + "/context-000001.h5"));
}

TEST_CASE_FIXTURE(Fixture, "two that write into one directory at once") {
  SmallDatabase first(alone, options());
  first.store(1);
  {
    SmallDatabase second(alone, options());
    CHECK(contains(message_of([&] { second.store(2); }), "another run writes"));
    first.store(3);
    CHECK(contains(message_of([&] { second.store(4); }), "another run writes"));
  }
  first.store(5);
  CHECK(found().whole == Cycles{1, 3, 5});
}

TEST_CASE_FIXTURE(Fixture, "a directory that is removed, or is none") {
  SmallDatabase database(alone, options());
  database.store(1);
  fs::remove_all(options().directory);
  CHECK(contains(message_of([&] { database.store(2); }), options().directory));
  CHECK(message_of([&] { database.store(3); }) != "nothing was thrown");
  write_file(scratch.path + "/file", "x");
  SmallDatabase other(alone, options("file/data"));
  CHECK(contains(message_of([&] { other.store(1); }), "file"));
  CHECK(contains(message_of([&] { static_cast<void>(database::read_journal(scratch.path)); }), "is no database"));
}

TEST_CASE_FIXTURE(Fixture, "segments that somebody has removed or replaced by something else") {
  {
    SmallDatabase database(alone, options());
    database.store(1);
  }
  const fs::path segment = options().directory + "/segment-0001-000000-0000.h5";
  fs::rename(segment, segment.string() + ".old");
  CHECK(found().damages.size() == 1);
  fs::create_directory(segment);
  CHECK(found().damaged == Cycles{1});
  fs::remove(segment);
  fs::create_symlink("nowhere", segment);
  CHECK(found().damaged == Cycles{1});
  SmallDatabase(alone, options()).store(2);
  CHECK(found().whole == Cycles{2});
}
