// Links and pipes that somebody has planted under names of our files: nothing is written through them.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/hdf5/file.hpp"
#include "storage/database/journal.hpp"
#include "storage/database/segment.hpp"
#include "storage/files/mailbox.hpp"
#include "storage/files/output_directory.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;
namespace fs = std::filesystem;

namespace {

/// A file of somebody else, and a link to it under `name`.
struct Planted {
  explicit Planted(const std::string& name) : victim(scratch.path + "/victim"), link(scratch.path + "/" + name) {
    write_file(victim, "precious");
    fs::create_directories(fs::path(link).parent_path());
    fs::create_symlink(victim, link);
  }
  [[nodiscard]] bool is_safe() const { return read_file(victim) == "precious"; }
  [[nodiscard]] std::string in(const std::string& name) const { return scratch.path + "/" + name; }
  Scratch scratch;
  std::string victim, link;
};

bool is_file(const std::string& path) { return fs::is_regular_file(fs::symlink_status(path)); }

}  // namespace

TEST_CASE("temporary files take the place of links") {
  const Planted planted(".table.csv.part");
  replace_file(planted.in("table.csv"), "rows");
  CHECK(planted.is_safe());
  CHECK(is_file(planted.in("table.csv")));
  CHECK(read_file(planted.in("table.csv")) == "rows");
}

TEST_CASE("a file of HDF5 takes the place of a link") {
  const Planted planted("fields.h5");
  hdf5::File file(planted.link);
  file.root().set("x", std::int64_t{1});
  file.close();
  CHECK(planted.is_safe());
  CHECK(is_file(planted.link));
}

TEST_CASE("what adds to a file, cuts it or writes over it refuses a link") {
  const Planted planted("table.csv");
  const std::string& link = planted.link;
  const std::string what = "a symbolic link stands where a file is needed";
  CHECK(message_of([&] { append_to_file(link, "more"); }).find(what) != std::string::npos);
  CHECK(message_of([&] { overwrite_start(link, "more"); }).find(what) != std::string::npos);
  CHECK(message_of([&] { cut_file(link, 1); }).find(what) != std::string::npos);
  CHECK(message_of([&] { write_at(link, 0, "more"); }).find(what) != std::string::npos);
  CHECK(planted.is_safe());
}

TEST_CASE("copies take the place of links") {
  const Planted planted("copy");
  write_file(planted.in("from"), "content");
  copy_file(planted.in("from"), planted.link);
  CHECK(planted.is_safe());
  CHECK(read_file(planted.link) == "content");
}

TEST_CASE("locks refuse links") {
  const Planted planted(".run.lock");
  CHECK(message_of([&] { const DirectoryLock lock(planted.scratch.path, ".run.lock"); }).find("symbolic link") !=
        std::string::npos);
  CHECK(planted.is_safe());
}

TEST_CASE("a database refuses links to be its contexts or its segments") {
  SUBCASE("contexts") {
    const Planted planted("db/contexts");
    const database::Slot slot{};
    CHECK_THROWS_AS(database::append_slot(planted.in("db"), 1, slot, false), Error);
    CHECK(planted.is_safe());
  }
  SUBCASE("the temporary file of contexts") {
    const Planted planted("db/.contexts.part");
    database::create_journal(planted.in("db"), false);
    CHECK(planted.is_safe());
    CHECK(is_file(planted.in("db/contexts")));
  }
  SUBCASE("a segment") {
    using Open = database::GrowingFile::Open;
    const Planted planted("db/segment");
    CHECK_THROWS_AS(database::GrowingFile(planted.link, Open::fresh), Error);
    CHECK_THROWS_AS(database::GrowingFile(planted.link, Open::existing), Error);
    CHECK(planted.is_safe());
  }
}

TEST_CASE("the folder for steering must be this user's own") {
  const Scratch scratch;
  const std::string folder = scratch.path + "/.sidestream-steering";
  const auto complaint = [&] {
    return message_of([&] { const Mailbox mailbox(steering_mailbox, scratch.path, false); });
  };
  SUBCASE("a link") {
    fs::create_directory(scratch.path + "/elsewhere");
    fs::create_directory_symlink(scratch.path + "/elsewhere", folder);
    CHECK(complaint().find("is a symbolic link") != std::string::npos);
  }
  SUBCASE("written by all") {
    fs::create_directory(folder);
    REQUIRE(::chmod(folder.c_str(), 0777) == 0);
    CHECK(complaint().find("may be written by every user") != std::string::npos);
  }
  SUBCASE("of another user") {
    fs::create_directory(folder);
    if (::chown(folder.c_str(), 12345, 12345) == 0) {  // root may change the owner
      CHECK(complaint().find("belongs to another user") != std::string::npos);
    } else {
      MESSAGE("not root: a folder of another user is NOT TESTED");
    }
  }
  SUBCASE("made under any umask, in a folder that a group shares") {
    REQUIRE(::chmod(scratch.path.c_str(), 02775) == 0);
    const mode_t before = ::umask(0);
    { const Mailbox mailbox(steering_mailbox, scratch.path, false); }
    ::umask(before);
  }
}

TEST_CASE("requests that are pipes, links or too long hang nobody and get an answer") {
  const Scratch scratch;
  Mailbox mailbox(steering_mailbox, scratch.path, false);
  const std::string folder = scratch.path + "/.sidestream-steering/";
  write_file(scratch.path + "/secret", "a\n1\n");
  REQUIRE(::mkfifo((folder + "request-pipe").c_str(), 0600) == 0);
  fs::create_symlink(scratch.path + "/secret", folder + "request-link");
  write_file(folder + "request-long", "a\n" + std::string(5000, '1') + "\n");
  write_file(folder + "request-good", "a\n2\n");
  const auto requests = mailbox.take();
  REQUIRE(requests.size() == 1);
  CHECK(requests.front().value == "2");
  CHECK(read_file(folder + "answer-long").find("refused:") == 0);
  CHECK(read_file(scratch.path + "/secret") == "a\n1\n");
}

TEST_CASE("results under links to folders go on working") {
  const Scratch scratch;
  fs::create_directory(scratch.path + "/disk");
  fs::create_directory_symlink(scratch.path + "/disk", scratch.path + "/results");
  const auto directory = open_output_directory(scratch.path + "/results", {});
  replace_file(*directory, directory->path("sub/a.csv", {}, 0), "rows");
  CHECK(read_file(scratch.path + "/disk/sub/a.csv") == "rows");
}
