#include "server/engine/watchdog.hpp"

#include <chrono>
#include <exception>

#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/own_threads.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::begin(const std::string& name, std::int64_t iteration, double start, double limit) {
  {
    const std::lock_guard lock(mutex_);
    watched_ = Watched{name, iteration, start, limit, limit};
  }
  if (!thread_.joinable()) thread_ = thread_without_signals([this] { run(); });
  changed_.notify_all();
}

void Watchdog::end() noexcept {
  const std::lock_guard lock(mutex_);
  watched_.reset();
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!watched_) {
      changed_.wait(lock);
      continue;
    }
    const double left = watched_->start + watched_->next - now();
    if (left > 0) {
      changed_.wait_for(lock, std::chrono::duration<double>(left));
      continue;
    }
    log::warning(
        "iteration {}: '{}' has been at work for {:.3g} s, its limit is {:g} s; nothing after it runs before it "
        "is done. With 'isolate: process' it would be ended",
        watched_->iteration, watched_->name, now() - watched_->start, watched_->limit);
    watched_->next *= 2;
  }
}

Watchdog::Watch::Watch(Watchdog* watchdog, const std::string& name, std::int64_t iteration, double limit,
                       Overruns& overruns)
    : watchdog_(limit > 0 ? watchdog : nullptr), overruns_(overruns), iteration_(iteration), limit_(limit) {
  if (!watchdog_) return;
  start_ = now();
  try {
    watchdog_->begin(name, iteration, start_, limit);
  } catch (const std::exception&) {
    // Without a thread for lack of memory, the time is still measured.
  }
}

Watchdog::Watch::~Watch() {
  if (!watchdog_) return;
  watchdog_->end();
  const double seconds = now() - start_;
  if (seconds <= limit_) return;
  ++overruns_.count;
  if (seconds <= overruns_.longest) return;
  overruns_.longest = seconds;
  overruns_.iteration = iteration_;
}

}  // namespace sidestream
