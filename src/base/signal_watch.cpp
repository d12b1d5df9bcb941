// The handler may run in any thread at any time, so it only touches lock-free atomics and what never changes once it is
// published. `Chained` objects stay until the process ends: a handler of the program that was set later may call ours
// long after the last watch.
#include "base/signal_watch.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

namespace {

/// The action that was set before the handler.
struct Chained {
  struct sigaction action {};
  bool called = true;
  mutable std::atomic<bool> used{false};  ///< for SA_RESETHAND: it has been called once
  const Chained* next = nullptr;          ///< of the same signal, set before this one
};

struct Place {
  std::atomic<unsigned> count{0};
  std::atomic<double> first{0};  ///< now() of the first arrival since the first of the present watches; 0: none
  std::atomic<const Chained*> chained{nullptr};
  int watches = 0;                 ///< under the lock
  const Chained* known = nullptr;  ///< under the lock: all that `chained` has pointed to, which is never freed
};
static_assert(std::atomic<double>::is_always_lock_free && std::atomic<const Chained*>::is_always_lock_free);
static_assert(std::is_trivially_destructible_v<Place>, "the handler may run when static objects have been destroyed");

// Dispositions belong to the process, and so does the handler's data. Sessions only compare counts.
std::array<Place, NSIG> places;
std::mutex setting;

void pass_on(const Chained& chained, int number, siginfo_t* info, void* context) {
  const struct sigaction& before = chained.action;
  if (!chained.called) return;
  if ((before.sa_flags & SA_RESETHAND) != 0 && chained.used.exchange(true)) return;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

void note(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  Place& place = places[static_cast<std::size_t>(number)];
  double none = 0;
  place.first.compare_exchange_strong(none, now());
  place.count.fetch_add(1);
  if (const Chained* const chained = place.chained.load()) pass_on(*chained, number, info, context);
  errno = kept;
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == note;
}

bool is_same(const struct sigaction& one, const struct sigaction& other) noexcept {
  return one.sa_flags == other.sa_flags && one.sa_handler == other.sa_handler &&
         std::memcmp(&one.sa_mask, &other.sa_mask, sizeof one.sa_mask) == 0;
}

/// Publishes the previous action for the handler. Equal actions share one object, so that opening often costs nothing.
void keep(Place& place, const struct sigaction& before, bool called) {
  const bool once = (before.sa_flags & SA_RESETHAND) != 0;
  for (const Chained* known = place.known; known; known = known->next) {
    if (!once && known->called == called && is_same(known->action, before)) return place.chained.store(known);
  }
  auto made = std::make_unique<Chained>();
  made->action = before;
  made->called = called;
  made->next = place.known;
  place.known = made.release();
  place.chained.store(place.known);
}

/// Sets the handler, with the mask and the stack of the one that it replaces.
void watch(int number, bool called) {
  Place& place = places[static_cast<std::size_t>(number)];
  struct sigaction before {};
  if (sigaction(number, nullptr, &before) != 0) fail(Code::system, "cannot watch signal {}", number);
  if (place.watches == 0) place.first.store(0);
  if (!is_ours(before)) {
    keep(place, before, called);
    const bool theirs =
        (before.sa_flags & SA_SIGINFO) != 0 || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
    struct sigaction mine {};
    mine.sa_sigaction = note;
    mine.sa_mask = before.sa_mask;
    mine.sa_flags =
        SA_SIGINFO | (theirs ? before.sa_flags & (SA_ONSTACK | SA_NODEFER | SA_RESTART) : SA_ONSTACK | SA_RESTART);
    if (sigaction(number, &mine, nullptr) != 0) fail(Code::system, "cannot watch signal {}", number);
  }
  ++place.watches;
}

/// Restores the previous handler, unless the program has set another one meanwhile.
void unwatch(int number) noexcept {
  Place& place = places[static_cast<std::size_t>(number)];
  if (--place.watches > 0) return;
  struct sigaction present {};
  if (sigaction(number, nullptr, &present) != 0 || !is_ours(present)) return;
  const Chained* const chained = place.chained.load();
  struct sigaction before = chained->action;
  if (chained->used.load()) before.sa_handler = SIG_DFL, before.sa_flags = 0;
  sigaction(number, &before, nullptr);
}

}  // namespace

SignalWatch::SignalWatch(std::vector<int> signals, bool chained) : signals_(std::move(signals)), since_(now()) {
  const std::lock_guard lock(setting);
  counts_.reserve(signals_.size());
  try {
    for (const int number : signals_) {
      const unsigned before = places[static_cast<std::size_t>(number)].count.load();
      watch(number, chained);
      counts_.push_back(before);
    }
  } catch (...) {
    leave();
    throw;
  }
}

SignalWatch::~SignalWatch() {
  const std::lock_guard lock(setting);
  leave();
}

void SignalWatch::leave() noexcept {
  for (std::size_t n = 0; n < counts_.size(); ++n) unwatch(signals_[n]);
}

std::optional<SignalWatch::Arrival> SignalWatch::arrived() const noexcept {
  std::optional<Arrival> earliest;
  for (std::size_t n = 0; n < counts_.size(); ++n) {
    const Place& place = places[static_cast<std::size_t>(signals_[n])];
    if (place.count.load() == counts_[n]) continue;
    const double at = std::max(place.first.load(), since_);
    if (!earliest || at < earliest->at) earliest = Arrival{signals_[n], at};
  }
  return earliest;
}

}  // namespace sidestream
