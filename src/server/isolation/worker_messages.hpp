// Messages between a server and the worker of an isolated analysis, over their socket. All other data are in memory
// that both map.
#pragma once

#include <cstdint>

#include "sidestream/data/block.hpp"
#include "sidestream/kit/base/hash.hpp"

namespace sidestream {

/// The socket's number in the worker.
inline constexpr int worker_socket = 3;

/// Version of the meaning of messages; raise it when that changes.
inline constexpr std::size_t worker_version = 3;

/// Hash that differs between builds with incompatible messages.
constexpr std::uint32_t worker_layout() {
  return hash_of_sizes({worker_version, sizeof(Block), sizeof(Box), sizeof(void*)});
}

struct WorkerRequest {
  enum class Kind : std::uint32_t { make = 1, local = 2, discard = 3 };
  std::uint32_t layout = worker_layout();
  Kind kind = Kind::make;
  std::uint64_t message = 0;  ///< bytes at the beginning of the server's object: a setup, or an input
  std::uint64_t values = 0;   ///< offset of the values in it
  std::uint64_t object = 0;   ///< length of the object; its descriptor comes along if it has changed
  std::int64_t iteration = 0;
  // make: another object to map; its descriptor comes after the server's
  std::uint64_t shared_offset = 0, shared_bytes = 0;  ///< location in the one shared object; 0 bytes: there is none
  std::uint64_t memory = 0;                           ///< make: bytes that the worker may allocate; 0: no limit
};

struct WorkerReply {
  enum class Kind : std::uint32_t { made = 1, done = 2, failed = 3 };
  std::uint32_t layout = worker_layout();
  Kind kind = Kind::made;
  std::uint64_t bytes =
      0;  ///< at the beginning of the worker's object; done: bytes of the partial, failed: of the message
  std::uint64_t object = 0;  ///< length of the object; its descriptor comes along if it has changed
};

}  // namespace sidestream
