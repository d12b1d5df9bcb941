// Threads of ours in a program that is not.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace sidestream {

/// Starts a thread that gets none of the program's signals: they are for its own. Throws what std::thread throws.
template <class Work>
std::thread thread_without_signals(Work&& work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::forward<Work>(work));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace sidestream
