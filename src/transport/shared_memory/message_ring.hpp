// Messages in a ring of lines.
#pragma once

#include <vector>

#include "transport/message_lines.hpp"
#include "transport/shared_memory/ring.hpp"

namespace sidestream::shared_memory {

/// Copies the first message into `lines` and leaves it in the ring. False: there is none.
inline bool peek_message(RingConsumer<MessageLine>& ring, std::vector<MessageLine>& lines) {
  lines.resize(1);
  if (!ring.peek(0, lines.front())) return false;
  lines.resize(MessageReader::length(lines.front()));
  // The lines of a message become visible together.
  for (std::size_t n = 1; n < lines.size(); ++n) {
    if (!ring.peek(n, lines[n])) return false;
  }
  return true;
}

/// The same, and takes it out.
inline bool pop_message(RingConsumer<MessageLine>& ring, std::vector<MessageLine>& lines) {
  if (!peek_message(ring, lines)) return false;
  ring.drop(lines.size());
  return true;
}

}  // namespace sidestream::shared_memory
