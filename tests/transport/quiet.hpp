// Queries of shared memory for tests, while nobody else works on it.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/shared_memory/arena.hpp"
#include "transport/shared_memory/ring.hpp"

namespace sidestream::test {

/// Chunks that nobody has: takes all of them, one by one, and gives them back.
inline std::uint64_t free_chunks(shared_memory::Arena arena) {
  constexpr int nobody = 60'000;  // no client of a test
  std::vector<std::uint64_t> taken;
  while (const auto chunk = arena.borrow(nobody, 1, taken.empty() ? 0 : taken.back())) taken.push_back(*chunk);
  for (const std::uint64_t chunk : taken) arena.give_back(nobody, chunk, 1);
  return taken.size();
}

/// Gives back all that a client has borrowed which runs no more. Returns chunks.
inline std::uint64_t reclaim(shared_memory::Arena arena, int client) {
  const std::uint64_t before = free_chunks(arena);
  arena.give_back(client, 0, arena.chunks());
  return free_chunks(arena) - before;
}

/// Takes the first record out of a ring. False: there is none.
template <class T>
bool pop(shared_memory::RingConsumer<T>& ring, T& record) noexcept {
  if (!ring.peek(0, record)) return false;
  ring.drop(1);
  return true;
}

}  // namespace sidestream::test
