// `when_full: spill`: places in a file that is used as a ring, compared with brute force; the file itself; the values
// that come back.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "sidestream/error.hpp"
#include "sidestream/kit/base/files.hpp"
#include "transport/shared_memory/spill/spill_file.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/spill-test-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
  std::string path;
};

BlockRecord record_of(std::int64_t block, std::uint64_t bytes) {
  BlockRecord record;
  record.block.id = block;
  record.variable = 3;
  record.bytes = bytes;
  return record;
}

/// A byte that depends on the block and the position.
std::byte value_at(std::int64_t block, std::uint64_t n) {
  return static_cast<std::byte>(static_cast<std::uint64_t>(block) * 37 + n * 11 + (n >> 8));
}

std::uint64_t put(SpillFile& file, std::int64_t block, std::uint64_t bytes, std::int64_t iteration) {
  const std::optional<Region> region = file.reserve(bytes);
  REQUIRE(region);
  CHECK(reinterpret_cast<std::uintptr_t>(region->data) % 64 == 0);
  for (std::uint64_t n = 0; n < bytes; ++n) region->data[n] = value_at(block, n);
  return file.commit(record_of(block, bytes), *region, false, iteration);
}

Inbox inbox_of(std::int64_t block, std::uint64_t bytes) {
  Inbox inbox;
  inbox.blocks.push_back({record_of(block, bytes), nullptr, 0});
  return inbox;
}

void overwrite(const std::string& path, std::uint64_t at, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

}  // namespace

TEST_CASE("places never overlap, lie in the file, and are used again") {
  std::mt19937 random(7);
  for (const std::uint64_t size : {1u, 64u, 1000u, 4096u}) {
    SpillPlaces places(size);
    struct Taken {
      std::uint64_t begin, end;
      std::int64_t iteration;
    };
    std::vector<Taken> taken;
    std::int64_t iteration = 0, released = 0;
    int refused = 0, given = 0;
    for (int step = 0; step < 20000; ++step) {
      const int what = static_cast<int>(random() % 8);
      if (what < 5) {
        const std::uint64_t bytes = 1 + random() % (size / 3 + 1);
        const auto offset = places.take(bytes);
        ++(offset ? given : refused);
        if (!offset) {
          // A client that holds nothing is never refused a block that fits.
          CHECK_FALSE((taken.empty() && bytes <= size));
          continue;
        }
        REQUIRE(*offset + bytes <= size);
        for (const Taken& other : taken) REQUIRE((*offset >= other.end || *offset + bytes <= other.begin));
        if (random() % 10 == 0) {
          places.give_back(*offset);
        } else {
          places.commit(*offset, iteration);
          taken.push_back({*offset, *offset + bytes, iteration});
        }
      } else if (what == 5) {
        ++iteration;
      } else {
        released = std::max(released, iteration - static_cast<std::int64_t>(random() % 4));
        places.release_upto(released);
        std::erase_if(taken, [&](const Taken& one) { return one.iteration < released; });
      }
    }
    CHECK(given > 100);
    CHECK((size == 1 || refused > 0));
    places.release_upto(iteration + 1);
    CHECK(places.empty());
    CHECK(places.take(size));
    CHECK_FALSE(places.take(1));
  }
}

TEST_CASE("what was spilled comes back") {
  const Folder folder;
  for (const std::uint64_t bytes : {0u, 1u, 64u, 100'000u}) {
    SpillFile file(folder.path, 1 << 20);
    CHECK(folder.files() == 1);
    SpillReader reader;
    const std::uint64_t first = put(file, 1, bytes, 4), second = put(file, 2, bytes, 4);
    CHECK(first != second);
    CHECK(file.written() == 2 * bytes);
    reader.add(4, 0, first, 0);
    reader.add(4, 0, second, 1);
    Inbox inbox = inbox_of(1, bytes);
    inbox.blocks.push_back({record_of(2, bytes), nullptr, 0});
    CHECK(reader.waits(4));
    CHECK(reader.load(4, inbox, [&](std::size_t) { return file.path(); }).empty());
    CHECK_FALSE(reader.waits(4));
    for (const Arrival& arrival : inbox.blocks) {
      REQUIRE(arrival.data != nullptr);
      for (std::uint64_t n = 0; n < bytes; ++n) REQUIRE(arrival.data[n] == value_at(arrival.record.block.id, n));
    }
    reader.drop(4);
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("a region is memory until it is committed, and with hold until it is cleared") {
  const Folder folder;
  SpillFile file(folder.path, 4096);
  CHECK_FALSE(file.fits(4096));
  CHECK_FALSE(file.reserve(4096));
  const auto one = file.reserve(2000), two = file.reserve(1900);
  REQUIRE((one && two));
  CHECK_FALSE(file.reserve(64));  // the share is used up
  CHECK(file.has(*one));
  file.clear(*two);
  CHECK_FALSE(file.has(*two));
  CHECK(file.reserve(64));
  const std::shared_ptr<const void> memory = file.memory();
  static_cast<void>(file.commit(record_of(1, 2000), *one, true, 0));
  one->data[1999] = std::byte{5};  // still readable
  CHECK(file.has(*one));
  file.release_upto(1);
  file.clear(*one);
  CHECK_FALSE(file.has(*one));
}

TEST_CASE("damage is noticed, wherever it is") {
  const Folder folder;
  constexpr std::uint64_t bytes = 200;
  for (std::uint64_t at = 0; at < sizeof(SpillHeader) + bytes; at += 3) {
    SpillFile file(folder.path, 1 << 16);
    const std::uint64_t offset = put(file, 9, bytes, 2);
    REQUIRE(offset == 0);
    std::ifstream in(file.path(), std::ios::binary);
    in.seekg(static_cast<std::streamoff>(at));
    overwrite(file.path(), at, static_cast<char>(in.get() ^ 0x10));
    SpillReader reader;
    reader.add(2, 0, offset, 0);
    Inbox inbox = inbox_of(9, bytes);
    const std::string wrong = reader.load(2, inbox, [&](std::size_t) { return file.path(); });
    CHECK_MESSAGE(wrong.find("it is damaged") != std::string::npos, at, " ", wrong);
    CHECK(wrong.find(file.path()) != std::string::npos);
  }
}

TEST_CASE("another block, a short file and none are errors with the path") {
  const Folder folder;
  SpillFile file(folder.path, 1 << 20);
  const std::uint64_t offset = put(file, 9, 100, 2);
  const auto load = [&](const Inbox& in, std::int64_t iteration, const std::string& path) {
    SpillReader reader;
    reader.add(iteration, 0, offset, 0);
    Inbox inbox = in;
    return reader.load(iteration, inbox, [&](std::size_t) { return path; });
  };
  CHECK(load(inbox_of(9, 100), 2, file.path()).empty());
  CHECK(load(inbox_of(8, 100), 2, file.path()).find("another block") != std::string::npos);
  CHECK(load(inbox_of(9, 99), 2, file.path()).find("another block") != std::string::npos);
  CHECK(load(inbox_of(9, 100), 3, file.path()).find("another block") != std::string::npos);
  CHECK(load(inbox_of(9, 100), 2, folder.path + "/none").find("cannot open") != std::string::npos);
  fs::resize_file(file.path(), 120);
  CHECK(load(inbox_of(9, 100), 2, file.path()).find("the file ends there") != std::string::npos);
}

TEST_CASE("files of dead processes are removed, others stay") {
  const Folder folder;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    SpillFile file(folder.path, 1 << 20);
    const auto region = file.reserve(5000);
    static_cast<void>(file.commit(record_of(1, 5000), *region, false, 0));
    [[maybe_unused]] const auto told = write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  const SpillFile mine(folder.path, 1 << 20);
  std::ofstream(folder.path + "/other") << "not ours";
  fs::create_symlink(folder.path + "/other", folder.path + "/sidestream-spill-link");
  fs::create_directory(folder.path + "/sidestream-spill-folder");
  CHECK(folder.files() == 5);
  prepare_spill_folder(folder.path);
  CHECK(folder.files() == 5);  // both clients are at work
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  prepare_spill_folder(folder.path);
  CHECK(folder.files() == 4);
  CHECK(fs::exists(mine.path()));
  CHECK(fs::exists(folder.path + "/other"));
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("a folder that cannot be is named") {
  const Folder folder;
  std::ofstream(folder.path + "/file") << "x";
  CHECK_THROWS_WITH_AS(prepare_spill_folder(folder.path + "/file/below"), doctest::Contains("/file/below"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(create_spill_file(folder.path + "/none")), doctest::Contains("cannot make"),
                       Error);
}

TEST_CASE("a limit on file sizes is an error before anything is written") {
  const Folder folder;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = 1 << 20;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &low) == 0);
  CHECK_THROWS_WITH_AS(SpillFile(folder.path, 2 << 20), doctest::Contains("placement.spill.size"), Error);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(folder.files() == 0);
}
