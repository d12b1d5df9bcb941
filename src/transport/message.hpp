// Messages between clients and servers, the same over shared memory and over MPI, and their encoding in lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

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

/// One message of a client, decoded.
struct Message {
  MessageKind kind = MessageKind::block;
  std::uint32_t segment = 0;  ///< block: the memory that holds the values; 0: the node's buffer, 1: the client's file
  std::uint64_t offset = 0;   ///< block, shared memory: offset of the values from the segment's start
  BlockRecord block;          ///< block; declare and remove use only its `block`
  EndRecord end;              ///< end
  Signal signal;              ///< signal
};

/// Version of the meaning of lines; raise it when that changes. Part of every layout hash.
inline constexpr std::uint32_t message_version = 3;

/// The first line of each message. A block whose description the receiver already has takes only this line.
struct MessageHeader {
  MessageKind kind = MessageKind::block;
  std::uint32_t lines = 1;     ///< lines of the message, including this one
  std::uint32_t sequence = 0;  ///< number of the message among those from its sender to this receiver, from 0; may wrap
  std::uint32_t segment = 0;   ///< block: the memory that holds the values
  std::uint64_t offset = 0;    ///< block: offset of the values from the segment's start
  std::uint64_t bytes = 0;     ///< block: bytes of values; notice: bytes of payload
  std::int64_t iteration = 0;  ///< notice: the iteration it is about
  std::uint32_t number = 0;    ///< block: number of the description, or BlockRecord::no_number; notice: its kind
  std::uint32_t reserved[5]{};
};

/// The unit of 64 bytes that messages are cut into.
struct alignas(64) MessageLine {
  std::byte bytes[64];
};
static_assert(sizeof(MessageHeader) == sizeof(MessageLine) && std::is_trivially_copyable_v<MessageHeader>);

/// Number of lines for a payload of `bytes` bytes, without the header.
[[nodiscard]] constexpr std::uint32_t payload_lines(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + sizeof(MessageLine) - 1) / sizeof(MessageLine));
}

/// Number of lines of the longest message.
inline constexpr std::uint32_t most_message_lines = 1 + payload_lines(longest_notice);
static_assert(sizeof(BlockRecord) <= longest_notice && sizeof(EndRecord) <= longest_notice &&
              sizeof(SignalHead) + longest_event <= longest_notice);

/// Encodes messages on the sender's side: numbers them, and omits descriptions that the receiver already has.
class MessageWriter {
 public:
  /// Returns the lines of a message, valid until the next call. The message counts as sent once `sent` is called. Until
  /// then this or another message may be written instead.
  [[nodiscard]] std::span<const MessageLine> write(const Message& message);
  /// Does the same for a block.
  [[nodiscard]] std::span<const MessageLine> write_block(const BlockRecord& record, std::uint64_t offset,
                                                         std::uint32_t segment = 0);
  [[nodiscard]] std::span<const MessageLine> write_notice(const Notice& notice);
  /// Records that the message written last was sent.
  void sent() noexcept {
    ++header_.sequence;
    if (describes_) revisions_[header_.number] = revision_;
  }
  /// Starts anew for another receiver.
  void restart() noexcept;
  /// Address of the output buffer and of the sender's state, for prefetching.
  [[nodiscard]] const void* place() const noexcept { return lines_.data(); }

 private:
  [[nodiscard]] std::span<const MessageLine> finish(const void* payload, std::size_t bytes);
  [[nodiscard]] std::span<const MessageLine> write_signal(const Signal& signal);
  MessageHeader header_;
  bool describes_ = false;
  std::uint32_t revision_ = 0;              ///< revision of the description in the last message
  std::vector<std::uint32_t> revisions_{};  ///< revisions that the receiver has, by number; 0: none
  std::vector<MessageLine> lines_ = std::vector<MessageLine>(most_message_lines);
};

/// Decodes messages on the receiver's side, for one sender.
class MessageReader {
 public:
  /// Reads one message. Throws Error(system) if it is not the sender's next message or is malformed. After bad_alloc it
  /// may be read again.
  void read(std::span<const MessageLine> lines, Message& message);
  [[nodiscard]] Notice read_notice(std::span<const MessageLine> lines);
  /// Number of lines of the message that begins with `first`. Throws Error(system) if that is impossible.
  [[nodiscard]] static std::uint32_t length(const MessageLine& first);

 private:
  [[nodiscard]] MessageHeader next_header(std::span<const MessageLine> lines) const;
  void decode(const MessageHeader& header, std::span<const MessageLine> payload, Message& message);
  void read_block(const MessageHeader& header, std::span<const MessageLine> payload, Message& message);
  std::uint32_t sequence_ = 0;
  std::vector<BlockRecord> records_;  ///< descriptions by number
};

}  // namespace sidestream
