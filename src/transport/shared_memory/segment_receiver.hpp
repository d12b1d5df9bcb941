// Attacher's end of the socket that carries a segment's descriptor; SegmentSender is the other end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/unix_socket.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/files.hpp"
#include "transport/shared_memory/segment.hpp"

namespace sidestream::shared_memory {

/// An attacher sends this byte when it has mapped and checked the segment.
inline constexpr char accepted = 'S';

class SegmentReceiver {
 public:
  /// Connects. Throws Error(system) if nobody listens, if the listener belongs to another user, or after `limit`.
  SegmentReceiver(const std::string& address, std::chrono::milliseconds limit);
  /// Receives the descriptor, which the caller owns. Throws Error(system) if none arrives.
  [[nodiscard]] int receive();
  /// Confirms success to the creator; without it the creator learns of a failure when the connection closes.
  void accept() noexcept;

 private:
  void wait_readable();

  std::string address_;
  Deadline deadline_;
  Descriptor socket_;
};

// Sharing of a segment: one process of a node creates it, all of them map it.

/// Collective over `node`. `own`: the segment, on the one member that is `creator`. Returns it, mapped, on every
/// member; throws the same Error(system) on all of them.
[[nodiscard]] Segment share_segment(Communicator& node, bool creator, Segment own, std::uint64_t layout);

}  // namespace sidestream::shared_memory
