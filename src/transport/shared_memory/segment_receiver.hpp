// The attacher's end of the socket over which a segment's descriptor travels; SegmentSender is the other end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "sidestream/extend/communicator.hpp"
#include "transport/shared_memory/segment.hpp"
#include "transport/shared_memory/unix_socket.hpp"

namespace sidestream::shared_memory {

/// The byte by which an attacher says that it has mapped and checked the segment.
inline constexpr char accepted = 'S';

class SegmentReceiver {
 public:
  /// Connects. Throws Error(system) if nobody listens, the listener is of another user, or after `limit`.
  SegmentReceiver(const std::string& address, std::chrono::milliseconds limit);
  /// The descriptor, which the caller owns. Throws Error(system) if none comes.
  [[nodiscard]] int receive();
  /// Tells the server that all is well; without it the server learns of a failure when the connection closes.
  void accept() noexcept;

 private:
  void wait_readable();

  std::string address_;
  Deadline deadline_;
  Descriptor socket_;
};

// One process of a node makes a segment, all of them map it.

/// Collective over `node`. `own`: the segment, on the one member that is `creator`. Returns it, mapped, on every
/// member; throws the same Error(system) on all of them.
[[nodiscard]] Segment share_segment(Communicator& node, bool creator, Segment own, std::uint64_t layout);

}  // namespace sidestream::shared_memory
