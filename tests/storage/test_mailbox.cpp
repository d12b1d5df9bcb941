// Mailboxes of people. Whatever lies in one, the server goes on, and everybody who asked gets an answer.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "config/reserved_file_names.hpp"
#include "sidestream/error.hpp"
#include "storage/files/mailbox.hpp"
#include "storage/files/output_directory.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  testing::Scratch scratch;
  std::string directory = scratch.path;
  fs::path folder = fs::path(directory) / ".sidestream-steering";
  Mailbox mailbox{steering_mailbox, directory, false};

  void lay(const std::string& id, const std::string& text) const {
    std::ofstream(folder / ("request-" + id), std::ios::binary) << text;
  }
  /// The answer to a request; empty if there is none.
  [[nodiscard]] std::string answer(const std::string& id) const {
    std::ifstream file(folder / ("answer-" + id));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

}  // namespace

TEST_CASE("a request is taken once") {
  Fixture f;
  f.lay("1", "stop\n1\n");
  const auto requests = f.mailbox.take();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].id == "1");
  CHECK(requests[0].name == "stop");
  CHECK(requests[0].value == "1");
  CHECK(f.mailbox.take().empty());
}

TEST_CASE("a pipe, a link and a directory are no requests, and are answered") {
  Fixture f;
  REQUIRE(mkfifo((f.folder / "request-pipe").c_str(), 0600) == 0);
  std::ofstream(fs::path(f.directory) / "elsewhere") << "stop\n1\n";
  fs::create_symlink(fs::path(f.directory) / "elsewhere", f.folder / "request-link");
  fs::create_directory(f.folder / "request-folder");
  f.lay("whole", "stop\n1\n");
  const auto requests = f.mailbox.take();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].id == "whole");
  for (const char* id : {"pipe", "link", "folder"}) {
    CAPTURE(id);
    CHECK(f.answer(id).find("refused: the request is no file") == 0);
    CHECK(!fs::exists(fs::symlink_status(f.folder / (std::string("taken-") + id))));
  }
  CHECK(fs::exists(fs::path(f.directory) / "elsewhere"));
}

TEST_CASE("requests that are too long or have too few lines are answered") {
  Fixture f;
  f.lay("long", "stop\n" + std::string(5000, '1') + "\n");
  f.lay("most", "stop\n" + std::string(4096 - 6, '1') + "\n");
  f.lay("line", "stop");
  f.lay("empty", "");
  const auto requests = f.mailbox.take();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].id == "most");
  CHECK(f.answer("long").find("refused: the request has more than 4096 bytes") == 0);
  CHECK(f.answer("line").find("refused: the request does not have two lines") == 0);
  CHECK(f.answer("empty").find("refused: the request does not have two lines") == 0);
}

TEST_CASE("a value that is too long is refused at once") {
  Fixture f;
  f.mailbox.record("stop = 0 (integer)\n");
  const std::string value(5000, '1');
  const std::string said =
      testing::message_of([&] { static_cast<void>(ask_run(steering_mailbox, f.directory, "stop", value, 30)); });
  CHECK(said.find("5004 characters") != std::string::npos);
  CHECK(f.mailbox.take().empty());
}

TEST_CASE("pipes in the place of an answer and of the record keep nobody waiting") {
  Fixture f;
  REQUIRE(mkfifo((f.folder / "parameters").c_str(), 0600) == 0);
  CHECK(f.mailbox.recorded().empty());
  CHECK(testing::message_of([&] { static_cast<void>(record_in(steering_mailbox, f.directory)); }).find("no session") !=
        std::string::npos);
}

TEST_CASE("a name with a line end is no request") {
  Fixture f;
  f.lay("a\nb", "stop\n1\n");
  f.lay("c", "stop\n1\n");
  CHECK(f.mailbox.take().size() == 1);
}

TEST_CASE("mailboxes of two kinds in one directory do not meet") {
  Fixture f;
  Mailbox other(request_mailbox, f.directory, false);
  f.lay("1", "stop\n1\n");
  CHECK(other.take().empty());
  other.record("{}\n");
  CHECK(record_in(request_mailbox, f.directory) == "{}\n");
  CHECK(testing::message_of([&] { static_cast<void>(record_in(steering_mailbox, f.directory)); }).find("steering:") !=
        std::string::npos);
  CHECK(f.mailbox.take().size() == 1);
}

TEST_CASE("a run that has died is suspected") {
  Fixture f;
  f.mailbox.record("stop = 0 (integer)\n");
  const auto ask = [&] {
    return testing::message_of([&] { static_cast<void>(ask_run(steering_mailbox, f.directory, "stop", "1", 0.1)); });
  };
  CHECK(ask().find("it has died") != std::string::npos);
  const DirectoryLock lock(f.directory, own_files::run_lock);
  CHECK(ask().find("no answer in 0.1 s") == 0);
  CHECK(ask().find("died") == std::string::npos);
}
