// Messages between clients and servers, the same over shared memory and over MPI.
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
  notice = 7,  ///< sent by a server to a client; all others go from client to server
  signal = 8
};

/// One message of a client, in memory. message_lines.hpp defines its encoding.
struct Message {
  MessageKind kind = MessageKind::block;
  std::uint32_t segment = 0;  ///< block: the memory that holds the values; 0: the node's buffer, 1: the client's file
  std::uint64_t offset = 0;   ///< block, shared memory: offset of the values from the segment's start
  BlockRecord block;          ///< block; declare and remove use only its `block`
  EndRecord end;              ///< end
  Signal signal;              ///< signal
};

}  // namespace sidestream
