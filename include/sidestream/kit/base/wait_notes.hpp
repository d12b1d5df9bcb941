// Notes for people while something is waited for.
#pragma once

#include <string>

namespace sidestream {

/// Writes one line to standard error when the waiting has lasted a moment: `sidestream: note: waiting for ...`. On a
/// terminal the line also shows how long it has lasted, and vanishes when the waiting is over.
class WaitNote {
 public:
  /// `speaks` is true on one process of a group only. `limit` is in seconds; 0: as long as it takes.
  WaitNote(bool speaks, std::string what, double limit = 0);
  ~WaitNote();
  WaitNote(const WaitNote&) = delete;
  WaitNote& operator=(const WaitNote&) = delete;
  /// Call it repeatedly while waiting.
  void check() noexcept;

 private:
  std::string what_;
  double limit_, began_, shown_ = -1;
  bool speaks_, terminal_;
};

/// Writes a hint, once, if something that should be quick takes long.
class LateNote {
 public:
  /// `speaks` is true on one process of a group only. `patience` is in seconds.
  LateNote(bool speaks, double patience, std::string text);
  /// Call it repeatedly while waiting.
  void check() noexcept;

 private:
  std::string text_;
  double end_;
  bool speaks_;
};

}  // namespace sidestream
