// What belongs to the program and must not change what we do, for the length of a call.
#pragma once

#include <signal.h>
#include <ctime>
#include <thread>
#include <utility>

#include "base/float_environment.hpp"

namespace sidestream {

/// SIGXFSZ waits while this lives, in this thread only: writing beyond the limit on the size of a file is an error of
/// the call (EFBIG), which gets a sentence, and does not end the simulation. The program's disposition stays, and a
/// signal of its own that waited before.
class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld() noexcept {
    sigset_t waiting;
    sigemptyset(&ours_);
    sigaddset(&ours_, SIGXFSZ);
    sigemptyset(&waiting);
    sigpending(&waiting);
    takes_ = sigismember(&waiting, SIGXFSZ) == 0;
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  ~FileSizeSignalHeld() {
    constexpr timespec at_once{0, 0};
    if (takes_) sigtimedwait(&ours_, nullptr, &at_once);  // what our own writing raised
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

 private:
  sigset_t ours_{}, before_{};
  bool takes_ = false;
};

/// Both, for calls that are no hot path.
class OwnEnvironment {
 private:
  FloatEnvironment numbers_;
  FileSizeSignalHeld signal_;
};

// Threads of ours in a program that is not.

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
