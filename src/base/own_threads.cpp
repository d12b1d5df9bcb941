#include "sidestream/kit/base/own_threads.hpp"

#include <signal.h>

#include <utility>

#include "base/run_log.hpp"

namespace sidestream {

std::thread thread_without_signals(std::function<void()> work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread([log = current_log(), own = std::move(work)] {
      const LogScope scope(log);
      own();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace sidestream
