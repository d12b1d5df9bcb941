#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "transport/processes.hpp"
#include "transport/shared_memory/copy.hpp"

using namespace sidestream::shared_memory;
using sidestream::test::scramble;

namespace {

using Copy = void (*)(void*, const void*, std::uint64_t) noexcept;

std::vector<unsigned char> pattern(std::size_t bytes) {
  std::vector<unsigned char> values(bytes);
  for (std::size_t n = 0; n < bytes; ++n) values[n] = static_cast<unsigned char>(scramble(n));
  return values;
}

/// Copies `bytes` between the offsets, and compares every byte of the target and of its surroundings.
bool exact(Copy copy, std::size_t bytes, std::size_t to_offset, std::size_t from_offset) {
  const auto source = pattern(bytes + from_offset);
  std::vector<unsigned char> target(bytes + to_offset + 256, 0xa5);
  copy(target.data() + to_offset, source.data() + from_offset, bytes);
  for (std::size_t n = 0; n < target.size(); ++n) {
    const bool inside = n >= to_offset && n < to_offset + bytes;
    if (target[n] != (inside ? source[n - to_offset + from_offset] : 0xa5)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("every size and alignment arrives, and nothing around it changes") {
  for (const Copy copy : {&copy_to_shared, &stream_to_shared}) {
    for (std::size_t bytes : {0, 1, 7, 63, 64, 65, 127, 128, 129, 1000, 4096, 4097, 16'384, 16'640, 65'537}) {
      for (std::size_t to : {0, 1, 15, 16, 31, 32, 63, 64}) {
        for (std::size_t from : {0, 1, 8, 33}) CHECK(exact(copy, bytes, to, from));
      }
    }
  }
}

TEST_CASE("sizes round the bounds of streaming arrive") {
  for (const std::uint64_t bytes : {streamed_from - 1, streamed_from, streamed_from + 65}) {
    CHECK(exact(&copy_to_shared, bytes, 64, 8));
  }
}

TEST_CASE("no bytes may come from nowhere") {
  copy_to_shared(nullptr, nullptr, 0);
  stream_to_shared(nullptr, nullptr, 0);
}

TEST_CASE("streamed values are visible to who sees the store after them") {
  constexpr std::size_t words = 4096;
  alignas(64) static std::uint64_t target[words];
  static std::atomic<std::uint64_t> ready{0}, taken{0};
  std::uint64_t wrong = 0;
  std::thread reader([&] {
    for (std::uint64_t round = 1; round <= 2000; ++round) {
      while (ready.load(std::memory_order_acquire) < round) std::this_thread::yield();
      for (const std::uint64_t value : target) wrong += value != round;
      taken.store(round, std::memory_order_release);
    }
  });
  std::vector<std::uint64_t> source(words);
  for (std::uint64_t round = 1; round <= 2000; ++round) {
    std::fill(source.begin(), source.end(), round);
    stream_to_shared(target, source.data(), sizeof target);
    ready.store(round, std::memory_order_release);
    while (taken.load(std::memory_order_acquire) < round) std::this_thread::yield();
  }
  reader.join();
  CHECK(wrong == 0);
}
