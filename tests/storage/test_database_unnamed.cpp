// Files of a database that no slot names. Files whose slots were cut off are reported and never deleted. Files that
// killed runs left are deleted, but no files of others.
#include <doctest/doctest.h>

#include <algorithm>

#include "inspection/inspection.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/support/small_database.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

struct Fixture {
  [[nodiscard]] database::StoringOptions options(int keep = 0) const {
    database::StoringOptions made;
    made.directory = data;
    made.max_file_size = 1 << 20;
    made.flush = made.show = false;
    made.keep = keep;
    return made;
  }
  void run(std::int64_t first, std::int64_t count, int keep = 0, bool show = false) {
    database::StoringOptions made = options(keep);
    made.show = show;
    SmallDatabase database(alone, made);
    for (std::int64_t cycle = first; cycle < first + count; ++cycle) database.store(cycle);
  }
  void cut_slots(std::uint64_t slots) const { cut_file(data + "/contexts", slots * database::slot_bytes); }
  [[nodiscard]] bool has(const std::string& name) const {
    return fs::exists(fs::symlink_status(fs::path(data) / name));
  }

  MpiCommunicator alone{MPI_COMM_SELF};
  Scratch scratch;
  std::string data = scratch.path + "/data";
};

const char* const first_segment = "segment-0001-000000-0000.h5";
const char* const second_segment = "segment-0002-000000-0000.h5";

}  // namespace

TEST_CASE_FIXTURE(Fixture, "contexts that a cut file of slots forgot are missed, and nothing of them is deleted") {
  run(0, 2);
  run(2, 2);
  CHECK(database::inspect(data).unnamed.lost.empty());
  for (std::uint64_t slots = 4; slots >= 1; --slots) {
    CAPTURE(slots);
    cut_slots(slots);
    const database::Inspection found = database::inspect(data);
    CHECK(found.contexts.size() == slots - 1);
    CHECK(found.remarks.empty());
    CHECK(found.unnamed.lost.size() == 5 - slots);
    CHECK(contains(found.unnamed.lost.front(), "that no slot of 'contexts' names: a slot was cut off"));
    CHECK(found.unnamed.spare.empty());
    const database::Pruned pruned = database::prune(data, {});
    CHECK(pruned.files.empty());
    CHECK(pruned.lost.size() == 5 - slots);
    CHECK(pruned.kept == (slots > 3   ? Names{}
                          : slots > 2 ? Names{second_segment}
                          : slots > 1 ? Names{second_segment}
                                      : Names{first_segment, second_segment}));
  }
  const database::Pruned pruned = database::prune(data, {.lost = true});
  CHECK(pruned.files == Names{first_segment, second_segment});
  CHECK_FALSE(has(first_segment));
}

TEST_CASE_FIXTURE(Fixture, "files that show contexts tell what was cut off, too") {
  run(0, 3, 0, true);
  cut_slots(2);
  const database::Inspection found = database::inspect(data);
  CHECK(found.unnamed.held == Names{"context-000002.h5", "context-000003.h5"});
  CHECK(std::count_if(found.unnamed.lost.begin(), found.unnamed.lost.end(), [](const std::string& sentence) {
          return contains(sentence, "shows the context of slot 3, but 'contexts' ends before it; it was cut off");
        }) == 1);
  CHECK(database::prune(data, {}).files.empty());
}

TEST_CASE_FIXTURE(Fixture, "one bad byte in a slot keeps its files from being deleted") {
  run(0, 1, 1);
  run(1, 1, 1);
  std::string slots = read_file(data + "/contexts");
  slots[2 * database::slot_bytes + 30] ^= 4;
  write_file(data + "/contexts", slots);
  const database::Pruned pruned = database::prune(data, {});
  CHECK(pruned.files.empty());
  CHECK(pruned.kept == Names{second_segment});
}

TEST_CASE_FIXTURE(Fixture, "what was removed and what killed runs have left is not missed") {
  run(0, 4, 2);
  CHECK(database::inspect(data).unnamed.lost.empty());
  run(4, 3);
  const database::Pruned pruned = database::prune(data, {.keep = 1});
  CHECK(pruned.contexts.size() == 4);
  CHECK(pruned.lost.empty());
  CHECK(pruned.files.size() == 2);  // two files of the first run, which gave each context a segment
  const std::string whole = read_file(data + "/" + second_segment);
  write_file(data + "/segment-0003-000000-0000.h5", whole.substr(0, database::overlay_bytes + 200));
  write_file(data + "/segment-0003-000001-0000.h5", "");
  const database::Inspection found = database::inspect(data);
  CHECK(found.unnamed.lost.empty());
  CHECK(found.unnamed.spare == Names{"segment-0003-000000-0000.h5", "segment-0003-000001-0000.h5"});
  CHECK(database::prune(data, {}).files == found.unnamed.spare);
}

TEST_CASE_FIXTURE(Fixture, "files that are not the database's stay") {
  run(0, 1);
  const Names others{"context-of-the-run.h5", "segment-7-mine.h5",           "segment-0007-000000-0000.h5.bak",
                     "context-7.h5",          "segment-0007-000000-000.h5",  "segment-00007-000000-0000.h5",
                     "context-000007.h5.old", "segment-0000-000000-0000.h5", "segment-0007-000000--001.h5"};
  for (const std::string& name : others) write_file(data + "/" + name, "mine");
  fs::create_directory(data + "/segment-0007-000000-0001.h5");
  fs::create_symlink("elsewhere", data + "/segment-0007-000000-0002.h5");
  CHECK(database::prune(data, {.keep = 0, .lost = true}).files == Names{first_segment});
  for (const std::string& name : others) CHECK(has(name));
  CHECK(has("segment-0007-000000-0001.h5"));
  CHECK(has("segment-0007-000000-0002.h5"));
}

TEST_CASE_FIXTURE(Fixture, "a file of slots without a whole head, or without anything") {
  run(0, 1);
  std::string slots = read_file(data + "/contexts");
  slots[3] ^= 1;
  write_file(data + "/contexts", slots);
  const database::Inspection found = database::inspect(data);
  CHECK(found.contexts.size() == 1);
  CHECK(contains(found.remarks.at(0), "the head is damaged; contexts are read all the same"));
  cut_slots(0);
  CHECK(contains(database::inspect(data).remarks.at(0), "the file is empty; it was cut off"));
  run(1, 1);  // must not overwrite the head
  CHECK(database::inspect(data).contexts.at(0).entry.slot == 1);
}

TEST_CASE_FIXTURE(Fixture, "a head of a newer version is refused") {
  run(0, 1);
  std::string slots = read_file(data + "/contexts");
  slots[8] = 3;
  const auto head = std::as_bytes(std::span(slots)).first(248);
  const std::uint64_t checksum = database::checksum_of(head);
  std::memcpy(slots.data() + 248, &checksum, sizeof checksum);
  write_file(data + "/contexts", slots);
  const std::string said = message_of([&] { static_cast<void>(database::inspect(data)); });
  CHECK(contains(said, "version 3 of the format, expected 1; use a newer Sidestream"));
}

TEST_CASE_FIXTURE(Fixture, "beside a run that writes nobody says what has no slot yet") {
  run(0, 1);
  cut_slots(1);
  const DirectoryLock lock(data, database::lock_name);
  const database::Inspection found = database::inspect(data);
  CHECK(found.is_written);
  CHECK(found.unnamed.lost.empty());
}
