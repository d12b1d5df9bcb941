// A time limit for a run of tests that says which test did not end: what CTest kills says nothing.
#pragma once

namespace sidestream::testing {

/// For its lifetime: if it lasts longer than `seconds`, this process says on which rank and in which test it is and
/// ends. Nothing if `seconds` is 0.
class Deadline {
 public:
  Deadline(unsigned seconds, int rank, int ranks);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
};

}  // namespace sidestream::testing
