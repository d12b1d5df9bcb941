// The state of the program does not change our results: its locale, rounding mode, traps, directory, descriptors,
// limits.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <locale>
#include <optional>
#include <string>

#include "base/own_environment.hpp"
#include "base/paths.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// Rounds upwards and traps exceptions while it lives.
struct OtherArithmetic {
  OtherArithmetic() {
    fegetenv(&before);
    fesetround(FE_UPWARD);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  }
  ~OtherArithmetic() { fesetenv(&before); }
  fenv_t before{};
};

volatile double zero = 0;

std::string content(const std::string& path) { return read_file(path); }

}  // namespace

TEST_CASE("numbers in texts do not depend on the rounding mode") {
  const OtherArithmetic upwards;
  CHECK(real_of("0.3") == 0.3);
  CHECK(real_of("123456789.123456789e-7") == 12.3456789123456789);
  CHECK(real_of("1e999") == std::numeric_limits<double>::infinity());
  CHECK(real_of("-1e999") == -std::numeric_limits<double>::infinity());
  CHECK(real_of("1e-999") == 0);
}

TEST_CASE("a number is taken off the beginning of a text") {
  std::string_view text = "+2.5 s";
  CHECK(take_real(text) == 2.5);
  CHECK(text == " s");
  for (const char* const none : {"", " 1", "1 ", "1,5", "x", "+", "--1", "0x10"}) {
    CAPTURE(none);
    CHECK(!real_of(none));
  }
  CHECK(whole_of<int>("-12") == -12);
  CHECK(whole_of<unsigned>("ff", 16) == 255U);
  CHECK(!whole_of<int>("99999999999"));
  CHECK(!whole_of<int>("1 "));
}

TEST_CASE("arithmetic of ours traps nothing, and the program's goes on as it was") {
  const OtherArithmetic upwards;
  {
    const OwnEnvironment own;
    CHECK(1 / zero == std::numeric_limits<double>::infinity());
    CHECK(fegetround() == FE_TONEAREST);
  }
  CHECK(fegetround() == FE_UPWARD);
  CHECK((fegetexcept() & FE_DIVBYZERO) != 0);
}

TEST_CASE("letters are ASCII's alone") {
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    CHECK(is_letter(static_cast<char>(c)) == letter);
    CHECK(is_digit(static_cast<char>(c)) == (c >= '0' && c <= '9'));
  }
  CHECK(lower_case('A') == 'a');
  CHECK(lower_case('\xc4') == '\xc4');
  CHECK(is_blank('\t'));
  CHECK(!is_blank('\xa0'));
}

TEST_CASE("the system's errors are told in ASCII") {
  CHECK(system_text(ENOENT) == "No such file or directory");
  CHECK(system_text(123456).find("123456") != std::string::npos);
}

TEST_CASE("bytes that are not UTF-8 are converted, or shown") {
  CHECK(utf8_of_latin_1("20 \xb0"
                        "C, \xe4\xff") == "20 °C, äÿ");
  CHECK(escaped_utf8("20 \xb0"
                     "C, ä\xff") == "20 \\xb0C, ä\\xff");
  CHECK(escaped_utf8("ok") == "ok");
}

TEST_CASE("relative paths begin in the folder that is given") {
  CHECK(path_from("/a", "b/c.csv") == "/a/b/c.csv");
  CHECK(path_from("/a", "./b") == "/a/b");
  CHECK(path_from("/a", ".") == "/a");
  CHECK(path_from("/a", "link/../b") == "/a/link/../b");
  CHECK(path_from("/a", "/b") == "/b");
  CHECK(path_from("/a", "").empty());
  CHECK(path_from("", "b") == "b");
}

TEST_CASE("our folders are found from any working directory") {
  const auto here = std::filesystem::current_path();
  const auto before = own_folders();
  REQUIRE(!before.empty());
  std::filesystem::current_path("/");
  const auto after = own_folders();
  std::filesystem::current_path(here);
  CHECK(before == after);
  CHECK(before.front().is_absolute());
  constexpr const char* relative[] = {".", "..", "a/b", "{libraries}/a"};
  const auto places = places_from_own(relative);
  REQUIRE(places.size() == 4 * before.size());
  CHECK(places[0] == before.front());
  CHECK(places[1] == before.front().parent_path());
  CHECK(places[2] == before.front() / "a/b");
  // From PREFIX/bin to the folder of libraries, such as PREFIX/lib.
  CHECK(places[3].filename() == "a");
  CHECK(places[3].parent_path() != before.front());
  CHECK(places[3].string().find('{') == std::string::npos);
}

TEST_CASE("an interpreter with a relative path is that of the working directory, one without a path is searched for") {
  const char* const set = std::getenv("SIDESTREAM_PYTHON");
  const std::optional<std::string> before = set ? std::optional<std::string>(set) : std::nullopt;
  setenv("SIDESTREAM_PYTHON", "./venv/bin/python", 1);
  CHECK(python_interpreter() == (std::filesystem::current_path() / "venv/bin/python").string());
  setenv("SIDESTREAM_PYTHON", "python3.11", 1);
  CHECK(python_interpreter() == "python3.11");
  before ? setenv("SIDESTREAM_PYTHON", before->c_str(), 1) : unsetenv("SIDESTREAM_PYTHON");
}

TEST_CASE("no file of ours has the number of a standard stream") {
  const Scratch scratch;
  int saved[3];
  for (int n = 0; n < 3; ++n) saved[n] = fcntl(n, F_DUPFD, 10);
  for (int n = 0; n < 3; ++n) close(n);
  const int made = create_new(scratch.path + "/a", O_WRONLY), read = open_to_read(scratch.path + "/a");
  for (int n = 0; n < 3; ++n) {
    dup2(saved[n], n);
    close(saved[n]);
  }
  CHECK(made > 2);
  CHECK(read > 2);
  CHECK((fcntl(made, F_GETFD) & FD_CLOEXEC) != 0);
  close(made);
  close(read);
}

TEST_CASE("links and pipes of a name are not written through, links to folders are entered") {
  namespace fs = std::filesystem;
  const Scratch scratch;
  const std::string victim = scratch.path + "/victim", link = scratch.path + "/link", pipe = scratch.path + "/pipe";
  write_file(victim, "precious");
  fs::create_symlink(victim, link);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(open_existing(link, O_WRONLY) == -1);
  CHECK(errno == ELOOP);
  CHECK(open_or_create(link, O_WRONLY | O_APPEND) == -1);
  CHECK(create_new(link, O_WRONLY) == -1);
  CHECK(open_existing(pipe, O_RDONLY) == -1);
  CHECK(errno == ENXIO);
  CHECK(open_or_create(pipe, O_RDWR) == -1);
  CHECK(create_anew(pipe, O_WRONLY) == -1);
  CHECK(create_anew(scratch.path, O_WRONLY) == -1);
  CHECK(errno == EISDIR);
  const int anew = create_anew(link, O_WRONLY);
  CHECK(anew >= 0);
  close(anew);
  CHECK(fs::is_regular_file(fs::symlink_status(link)));
  CHECK(content(victim) == "precious");
  fs::create_directory_symlink(scratch.path, scratch.path + "/folder");
  const int inside = create_anew(scratch.path + "/folder/new", O_WRONLY);
  CHECK(inside >= 0);
  close(inside);
  CHECK(fs::exists(scratch.path + "/new"));
}

TEST_CASE("a file that may not grow is an error, and ends nobody") {
  const Scratch scratch;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string why;
  {
    const OwnEnvironment own;
    try {
      write_file(scratch.path + "/a", std::string(10'000, 'x'));
    } catch (const Error& error) {
      why = error.what();
    }
  }
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(why.find("ulimit -f") != std::string::npos);
  struct sigaction now {};
  sigaction(SIGXFSZ, nullptr, &now);
  CHECK((now.sa_handler == SIG_DFL));
  sigset_t waiting, blocked;
  sigpending(&waiting);
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  CHECK(sigismember(&waiting, SIGXFSZ) == 0);
  CHECK(sigismember(&blocked, SIGXFSZ) == 0);
}
