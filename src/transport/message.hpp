// What clients send to servers, in the same words over shared memory and over MPI.
#pragma once

#include <cstdint>

#include "sidestream/extend/transport.hpp"

namespace sidestream {

enum class MessageKind : std::uint32_t { block = 1, declare = 2, remove = 3, end = 4, close = 5, abandon = 6 };

/// One message of fixed size; trivially copyable. Changing it means a new layout hash.
struct Message {
  MessageKind kind = MessageKind::block;
  std::uint32_t reserved = 0;
  std::uint64_t offset = 0;  ///< block, shared memory: where the values are, from the buffer's start
  BlockRecord block;         ///< block, declare, remove (its `block` alone)
  EndRecord end;             ///< end
};

}  // namespace sidestream
