// Process state that belongs to the program, shielded for the duration of a call.
#pragma once

#include <signal.h>

#include <ctime>

#include "sidestream/kit/base/float_environment.hpp"

namespace sidestream {

/// Blocks SIGXFSZ while this object lives, in this thread only. Writing beyond the limit on file sizes is then an error
/// of the call (EFBIG), with a sentence, and does not end the simulation. The program's disposition stays, and so does
/// a signal of its own that was pending before.
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
    if (takes_) sigtimedwait(&ours_, nullptr, &at_once);  // Takes back the signal that our own writing raised.
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

 private:
  sigset_t ours_{}, before_{};
  bool takes_ = false;
};

/// Shields both, for calls that are no hot path.
class OwnEnvironment {
 private:
  FloatEnvironment numbers_;
  FileSizeSignalHeld signal_;
};

}  // namespace sidestream
