// Waiting for MPI without keeping a core busy.
#pragma once

#include <mpi.h>
#include <functional>
#include <string>

namespace sidestream {

/// Throws Error(system) with MPI's own text if `code` is not MPI_SUCCESS; `call` names the function.
void check_mpi(int code, const char* call);

/// Asks `done` until it is true, ever more rarely, sleeping in between (at most 100 µs). What `meanwhile`, which is
/// called in between if it is set, throws is thrown when the wait is over.
void polite_poll(const std::function<bool()>& done, const std::function<void()>& meanwhile = {});

/// Waits for `request`, testing ever more rarely and sleeping in between (at most 100 µs), so that a server that waits
/// leaves its core to others. `meanwhile`, if set, is called between tests.
void polite_wait(MPI_Request& request, const std::function<void()>& meanwhile = {});

// What people are told while something is waited for.

/// On standard error: one line when the waiting has lasted a moment, `sidestream: note: waiting for ...`. On a terminal
/// the line shows besides how long it has lasted, and vanishes when the waiting is over.
class WaitNote {
 public:
  /// `speaks`: false on all processes of a group but one. `limit`: seconds; 0: as long as it takes.
  WaitNote(bool speaks, std::string what, double limit = 0);
  ~WaitNote();
  WaitNote(const WaitNote&) = delete;
  WaitNote& operator=(const WaitNote&) = delete;
  /// To be called again and again meanwhile.
  void look() noexcept;

 private:
  std::string what_;
  double limit_, began_, shown_ = -1;
  bool speaks_, terminal_;
};

/// What to look at, once, where something that should not take long has not come.
class LateNote {
 public:
  /// `speaks`: false on all processes of a group but one. `patience`: seconds.
  LateNote(bool speaks, double patience, std::string text);
  /// To be called again and again meanwhile.
  void look() noexcept;

 private:
  std::string text_;
  double end_;
  bool speaks_;
};

}  // namespace sidestream
