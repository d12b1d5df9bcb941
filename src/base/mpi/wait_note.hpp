// What people are told while something is waited for.
#pragma once

#include <string>

namespace sidestream {

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
