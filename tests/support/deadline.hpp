// A time limit for a run of tests that reports which test did not end. A test that CTest kills reports nothing.
#pragma once

namespace sidestream::testing {

/// If it lives longer than `seconds`, this process reports its rank and its test, and ends. Does nothing if `seconds`
/// is 0.
class Deadline {
 public:
  Deadline(unsigned seconds, int rank, int ranks);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
};

}  // namespace sidestream::testing
