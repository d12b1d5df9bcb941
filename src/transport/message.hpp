// What clients and servers send each other, in the same words over shared memory and over MPI.
#pragma once

#include <cstdint>

#include "sidestream/extend/transport.hpp"

namespace sidestream {

enum class MessageKind : std::uint32_t {
  block = 1,
  declare = 2,
  remove = 3,
  end = 4,
  close = 5,
  abandon = 6,
  notice = 7,  ///< from a server to a client, the others the other way
  signal = 8
};

/// One message of a client, in memory. How it travels: message_lines.hpp.
struct Message {
  MessageKind kind = MessageKind::block;
  std::uint32_t segment = 0;  ///< block: which memory the values are in; 0: the node's buffer, 1: the client's file
  std::uint64_t offset = 0;   ///< block, shared memory: where the values are, from the segment's start
  BlockRecord block;          ///< block; declare, remove: its `block` alone
  EndRecord end;              ///< end
  Signal signal;              ///< signal
};

}  // namespace sidestream
