// The file of messages: whole lines from several processes and threads, levels, failures, and who logs into it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "base/run_log.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/own_threads.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The lines without their times, which have to be times.
std::vector<std::string> said_in(const std::string& path) {
  const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z )");
  std::vector<std::string> said;
  for (const std::string& line : lines_of(path)) {
    std::smatch found;
    const bool begins = std::regex_search(line, found, time, std::regex_constants::match_continuous);
    said.push_back(begins ? line.substr(static_cast<std::size_t>(found.length())) : "no time: " + line);
  }
  return said;
}

using Lines = std::vector<std::string>;

/// Keeps standard error out of the test's output, and what was printed there.
class StandardError {
 public:
  explicit StandardError(std::string path) : path_(std::move(path)), before_(dup(STDERR_FILENO)) {
    const int file = open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
  }
  ~StandardError() {
    dup2(before_, STDERR_FILENO);
    close(before_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;
  [[nodiscard]] Lines lines() const { return lines_of(path_); }

 private:
  std::string path_;
  int before_;
};

}  // namespace

TEST_CASE("messages go to the log of the innermost scope, and to no other") {
  const Scratch scratch;
  const StandardError printed(scratch.path + "/stderr");
  const auto a = std::make_shared<RunLog>(), b = std::make_shared<RunLog>();
  a->begin({scratch.path + "/a", "client 0"});
  b->begin({scratch.path + "/b", "server 1"});
  CHECK(current_log() == nullptr);
  log::info("nobody");
  {
    const LogScope outer(a);
    log::warning("one {}", 1);
    {
      const LogScope inner(b);
      log::error("two");
      std::thread([] { log::info("a thread of somebody else"); }).join();
      thread_without_signals([] { log::info("a thread of ours"); }).join();
      const LogScope none(nullptr);
      log::info("only on standard error");
    }
    log::info("three");
  }
  CHECK(current_log() == nullptr);
  CHECK(said_in(scratch.path + "/a") == Lines{"warning client 0: one 1", "note client 0: three"});
  CHECK(said_in(scratch.path + "/b") == Lines{"error server 1: two", "note server 1: a thread of ours"});
  CHECK(printed.lines().size() == 7);
}

TEST_CASE("messages before the beginning are kept, and their levels count") {
  const Scratch scratch;
  const std::string path = scratch.path + "/m";
  const auto log = std::make_shared<RunLog>();
  log->add("note", "early note");
  log->add("warning", "early warning");
  CHECK_FALSE(std::filesystem::exists(path));
  log->begin({path, "client 2", LogLevel::warning});
  log->add("note", "a note");
  log->add("error", "an error");
  CHECK(said_in(path) == Lines{"warning client 2: early warning", "error client 2: an error"});

  const auto quiet = std::make_shared<RunLog>();
  for (std::size_t n = 0; n < RunLog::most_kept + 10; ++n) quiet->add("note", "many");
  quiet->begin({scratch.path + "/none", "client 2", LogLevel::none});
  quiet->add("error", "an error");
  CHECK_FALSE(std::filesystem::exists(scratch.path + "/none"));
}

TEST_CASE("a message is one line") {
  const Scratch scratch;
  const auto log = std::make_shared<RunLog>();
  log->begin({scratch.path + "/m", "server 0"});
  log->add("error", "two\nlines\tand \x1b[31mcolour\x7f, \"quoted\", é");
  log->add("error", "/home/caf\xe9");
  CHECK(said_in(scratch.path + "/m") == Lines{R"(error server 0: two\nlines\tand \x1b[31mcolour\x7f, "quoted", é)",
                                              R"(error server 0: /home/caf\xe9)"});
}

TEST_CASE("lines of several processes and threads stay whole") {
  const Scratch scratch;
  const std::string path = scratch.path + "/m";
  constexpr int processes = 6, threads = 2, each = 400;
  const auto text = [](int process, int n) {
    return std::to_string(process) + " " + std::to_string(n) + " " +
           std::string(static_cast<std::size_t>(n * 37 % 9000), 'a');
  };
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const auto log = std::make_shared<RunLog>();
      log->begin({path, "client " + std::to_string(p)});
      std::vector<std::thread> all;
      for (int t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
          for (int n = t; n < each; n += threads) log->add("note", text(p, n));
        });
      }
      for (std::thread& one : all) one.join();
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  Lines expected, found = said_in(path);
  for (int p = 0; p < processes; ++p) {
    for (int n = 0; n < each; ++n) expected.push_back("note client " + std::to_string(p) + ": " + text(p, n));
  }
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  CHECK((found == expected));
}

TEST_CASE("a file that cannot be written costs nothing but its lines") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path + "/folder");
  { std::ofstream(scratch.path + "/mine") << "mine\n"; }
  std::filesystem::create_symlink(scratch.path + "/mine", scratch.path + "/link");
  for (const std::string name : {"folder", "link", "none/m"}) {
    CAPTURE(name);
    const StandardError printed(scratch.path + "/stderr");
    const auto log = std::make_shared<RunLog>();
    log->begin({scratch.path + "/" + name, "client 0"});
    for (int n = 0; n < 3; ++n) log->add("warning", "lost");
    REQUIRE(printed.lines().size() == 1);
    CHECK(printed.lines()[0].find("/" + name + "' lacks messages") != std::string::npos);
  }
  CHECK(lines_of(scratch.path + "/mine") == Lines{"mine"});
}

TEST_CASE("a file that reaches the limit goes on when there is room, on a line of its own") {
  const Scratch scratch;
  const std::string path = scratch.path + "/m";
  const StandardError printed(scratch.path + "/stderr");
  const auto log = std::make_shared<RunLog>();
  log->begin({path, "client 0"});
  log->add("note", "first");
  const auto size = static_cast<rlim_t>(std::filesystem::file_size(path));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{size + 40, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  log->add("note", "a part of this line fits");
  log->add("note", "nothing of this");
  setrlimit(RLIMIT_FSIZE, &before);
  log->add("note", "last");
  const Lines lines = lines_of(path);
  REQUIRE(lines.size() >= 3);
  CHECK(lines.front().ends_with("first"));
  CHECK(lines.back().ends_with(" note client 0: last"));
  CHECK(lines[1].size() == 40);
  CHECK(printed.lines().size() == 1);
}
