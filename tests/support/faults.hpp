// Memory that runs out at a chosen moment: the program's `operator new` is replaced (faults.cpp).
#pragma once

/// The n-th allocation of this thread from now on throws std::bad_alloc, once. With 0 none does.
extern "C" void sidestream_test_fail_allocation(long n);
/// True if the allocation that was to fail has failed.
extern "C" int sidestream_test_allocation_failed();
/// The n-th allocation of any thread of the process from now on throws, once. With 0 none does. Returns how many there
/// were since the last call.
extern "C" long sidestream_test_fail_any_allocation(long n);
/// The number of allocations since that call.
extern "C" long sidestream_test_allocations();

namespace sidestream::testing {

/// Lets the n-th allocation fail while it lives. Does nothing if `n` is 0.
class FailingAllocation {
 public:
  explicit FailingAllocation(long n) { sidestream_test_fail_allocation(n); }
  ~FailingAllocation() { sidestream_test_fail_allocation(0); }
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
};

}  // namespace sidestream::testing
