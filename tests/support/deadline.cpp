#include "support/deadline.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace sidestream::testing {
namespace {

/// Text for a signal handler, which may only use text that was made before.
struct Place {
  std::array<char, 64> run{};
  std::array<char, 512> text{};
  std::size_t length = 0;

  void set(const char* what, const char* file, unsigned line) {
    const int n =
        line == 0
            ? std::snprintf(text.data(), text.size(), "FAILED by the time limit: %s: %s\n", run.data(), what)
            : std::snprintf(text.data(), text.size(), "FAILED by the time limit: %s: in the test \"%s\" (%s:%u)\n",
                            run.data(), what, file, line);
    length = std::min(text.size() - 1, static_cast<std::size_t>(n));
  }
};
Place place;

void on_alarm(int) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, place.text.data(), place.length);
  ::sleep(2);  // mpirun ends the other ranks with this one, and they must report where they are before that
  ::_exit(124);
}

/// Notes which test runs, as doctest tells it.
struct Listener final : doctest::IReporter {
  explicit Listener(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData& test) override {
    test_ = &test;
    place.set(test.m_name, test.m_file.c_str(), test.m_line);
  }
  void test_case_reenter(const doctest::TestCaseData& test) override { test_case_start(test); }
  void subcase_start(const doctest::SubcaseSignature& subcase) override {
    std::array<char, 256> name{};
    std::snprintf(name.data(), name.size(), "%s: %s", test_->m_name, subcase.m_name.c_str());
    place.set(name.data(), subcase.m_file, static_cast<unsigned>(subcase.m_line));
  }
  void test_run_end(const doctest::TestRunStats&) override {
    place.set("it has run its tests and waits for other ranks", "", 0);
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  const doctest::TestCaseData* test_ = nullptr;
};
REGISTER_LISTENER("deadline", 1, Listener);

}  // namespace

Deadline::Deadline(unsigned seconds, int rank, int ranks) {
  std::snprintf(place.run.data(), place.run.size(), "rank %d of %d", rank, ranks);
  place.set("before its first test", "", 0);
  if (seconds != 0) ::signal(SIGALRM, on_alarm);
  ::alarm(seconds);
}

Deadline::~Deadline() { ::alarm(0); }

}  // namespace sidestream::testing
