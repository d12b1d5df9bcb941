// Replaces `operator new`: linked into a test program, or a library that is loaded before a program's others.
#include "support/faults.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local long countdown = 0;  // allocations until the one that fails, or 0 if none will
thread_local bool failed = false;

std::atomic<long> allocations{0}, fails_at{0};  // of all threads

/// True if this is the allocation that fails.
bool is_over() noexcept {
  const long number = allocations.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number == fails_at.load(std::memory_order_relaxed)) {
    failed = true;
    return true;
  }
  if (countdown == 0 || --countdown > 0) return false;
  failed = true;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (is_over()) throw std::bad_alloc();
  void* memory = alignment > alignof(std::max_align_t)
                     ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                     : std::malloc(bytes > 0 ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void sidestream_test_fail_allocation(long n) {
  countdown = n;
  failed = false;
}

extern "C" __attribute__((visibility("default"))) int sidestream_test_allocation_failed() { return failed; }

extern "C" __attribute__((visibility("default"))) long sidestream_test_fail_any_allocation(long n) {
  fails_at = 0;
  const long before = allocations.exchange(0);
  fails_at = n;
  return before;
}

extern "C" __attribute__((visibility("default"))) long sidestream_test_allocations() { return allocations; }

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void* operator new(std::size_t bytes) { return allocate(bytes, 0); }
EXPORTED void* operator new[](std::size_t bytes) { return allocate(bytes, 0); }
EXPORTED void* operator new(std::size_t bytes, std::align_val_t at) {
  return allocate(bytes, static_cast<std::size_t>(at));
}
EXPORTED void* operator new[](std::size_t bytes, std::align_val_t at) {
  return allocate(bytes, static_cast<std::size_t>(at));
}
EXPORTED void operator delete(void* memory) noexcept { std::free(memory); }
EXPORTED void operator delete[](void* memory) noexcept { std::free(memory); }
EXPORTED void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
EXPORTED void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
EXPORTED void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
EXPORTED void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
EXPORTED void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
EXPORTED void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
