// Signals are counted, the program's handlers run, and dispositions return. One process.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "base/signal_watch.hpp"
#include "sidestream/kit/base/waiting.hpp"

using namespace sidestream;

namespace {

volatile sig_atomic_t plain = 0, with_info = 0, mask_seen = 0;

void count_plain(int) {
  plain = plain + 1;
  errno = EDOM;
}

void count_info(int, siginfo_t* info, void*) {
  with_info = with_info + (info->si_pid == getpid() ? 1 : 100);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  mask_seen = sigismember(&blocked, SIGUSR2);
}

struct sigaction disposition(int number) {
  struct sigaction now {};
  sigaction(number, nullptr, &now);
  return now;
}

/// Sets a disposition for its lifetime.
class Disposition {
 public:
  Disposition(int number, const struct sigaction& action) : number_(number) { sigaction(number, &action, &before_); }
  ~Disposition() { sigaction(number_, &before_, nullptr); }
  Disposition(const Disposition&) = delete;
  Disposition& operator=(const Disposition&) = delete;

 private:
  int number_;
  struct sigaction before_ {};
};

struct sigaction handler_of(void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return action;
}

}  // namespace

TEST_CASE("a signal that would end the process is only noted, and its disposition returns") {
  // doctest has a handler for SIGTERM, which ends the test.
  const Disposition none(SIGUSR1, handler_of(SIG_DFL)), nothing(SIGTERM, handler_of(SIG_DFL));
  {
    const SignalWatch watch({SIGUSR1, SIGTERM});
    CHECK(!watch.arrived());
    const double before = now();
    raise(SIGUSR1);
    REQUIRE(watch.arrived());
    CHECK(watch.arrived()->signal == SIGUSR1);
    CHECK(watch.arrived()->at >= before);
    const double first = watch.arrived()->at;
    raise(SIGUSR1);
    raise(SIGTERM);
    CHECK(watch.arrived()->at == first);
    CHECK(watch.arrived()->signal == SIGUSR1);
  }
  CHECK((disposition(SIGUSR1).sa_handler == SIG_DFL));
}

TEST_CASE("the program's handlers run as they would, and errno stays") {
  plain = 0;
  with_info = 0;
  mask_seen = 0;
  struct sigaction info {};
  info.sa_sigaction = count_info;
  info.sa_flags = SA_SIGINFO;
  sigaddset(&info.sa_mask, SIGUSR2);
  const Disposition one(SIGTERM, handler_of(count_plain)), other(SIGUSR1, info);
  {
    const SignalWatch watch({SIGTERM, SIGUSR1});
    errno = ENOENT;
    raise(SIGTERM);
    CHECK(errno == ENOENT);
    raise(SIGUSR1);
    CHECK(plain == 1);
    CHECK(with_info == 1);
    CHECK(mask_seen == 1);
    CHECK(watch.arrived()->signal == SIGTERM);
  }
  raise(SIGTERM);
  CHECK(plain == 2);
  CHECK((disposition(SIGTERM).sa_handler == count_plain));
  CHECK((disposition(SIGUSR1).sa_sigaction == count_info));
}

TEST_CASE("a handler that is to run once runs once") {
  plain = 0;
  const Disposition once(SIGUSR1, handler_of(count_plain, static_cast<int>(SA_RESETHAND)));
  {
    const SignalWatch watch({SIGUSR1});
    raise(SIGUSR1);
    raise(SIGUSR1);
    CHECK(plain == 1);
  }
  CHECK((disposition(SIGUSR1).sa_handler == SIG_DFL));
}

TEST_CASE("watches that overlap share the handler, and the last one restores") {
  const Disposition before(SIGUSR2, handler_of(SIG_IGN));
  auto outer = std::make_unique<SignalWatch>(std::vector<int>{SIGUSR2});
  raise(SIGUSR2);
  {
    const SignalWatch inner({SIGUSR2});
    CHECK(!inner.arrived());
    CHECK(outer->arrived());
    raise(SIGUSR2);
    CHECK(inner.arrived());
  }
  CHECK((disposition(SIGUSR2).sa_handler != SIG_IGN));
  outer.reset();
  CHECK((disposition(SIGUSR2).sa_handler == SIG_IGN));
  const SignalWatch later({SIGUSR2});
  CHECK(!later.arrived());
}

TEST_CASE("a disposition that the program sets meanwhile stays") {
  plain = 0;
  const Disposition before(SIGUSR1, handler_of(SIG_DFL));
  struct sigaction ours {};
  {
    const SignalWatch watch({SIGUSR1});
    const struct sigaction theirs = handler_of(count_plain);
    sigaction(SIGUSR1, &theirs, &ours);
    raise(SIGUSR1);
    CHECK(!watch.arrived());
  }
  CHECK((disposition(SIGUSR1).sa_handler == count_plain));
  // The program may call what it replaced, or set it again: this must do no harm, and not call itself.
  sigaction(SIGUSR1, &ours, nullptr);
  raise(SIGUSR1);
  const SignalWatch again({SIGUSR1});
  CHECK(!again.arrived());
  raise(SIGUSR1);
  CHECK(again.arrived());
}

TEST_CASE("without chaining the earlier handler does not run") {
  plain = 0;
  const Disposition before(SIGUSR1, handler_of(count_plain));
  {
    const SignalWatch watch({SIGUSR1}, false);
    raise(SIGUSR1);
    CHECK(watch.arrived());
    CHECK(plain == 0);
  }
  raise(SIGUSR1);
  CHECK(plain == 1);
}

TEST_CASE("signals count in any thread, while others open and close watches") {
  const Disposition before(SIGUSR1, handler_of(SIG_DFL));
  const SignalWatch watch({SIGUSR1});
  std::thread sender([] {
    for (int n = 0; n < 1000; ++n) raise(SIGUSR1);
  });
  for (int n = 0; n < 1000; ++n) const SignalWatch other({SIGUSR1, SIGUSR2});
  sender.join();
  CHECK(watch.arrived());
}
