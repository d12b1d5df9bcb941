// How messages are laid out where they travel: in lines of 64 bytes, in rings of shared memory and in packets of MPI
// alike. docs/in-transit-protocol.md has the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "transport/message.hpp"

namespace sidestream {

/// To be raised with the meaning of lines; part of every layout hash.
inline constexpr std::uint32_t message_version = 3;

/// The first line of each message. A block that the receiver has the description of takes this one line.
struct MessageHeader {
  MessageKind kind = MessageKind::block;
  std::uint32_t lines = 1;     ///< of the message, this one included
  std::uint32_t sequence = 0;  ///< number of the message among those of its sender to this receiver, from 0; may wrap
  std::uint32_t segment = 0;   ///< block: which memory the values are in
  std::uint64_t offset = 0;    ///< block: where the values are, from the segment's start
  std::uint64_t bytes = 0;     ///< block: of the values; notice: of the payload
  std::int64_t iteration = 0;  ///< notice: what it is about
  std::uint32_t number = 0;    ///< block: of the description, or BlockRecord::no_number; notice: its kind
  std::uint32_t reserved[5]{};
};

/// What a message is cut into.
struct alignas(64) MessageLine {
  std::byte bytes[64];
};
static_assert(sizeof(MessageHeader) == sizeof(MessageLine) && std::is_trivially_copyable_v<MessageHeader>);

/// Lines that `bytes` bytes after the header take.
[[nodiscard]] constexpr std::uint32_t payload_lines(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + sizeof(MessageLine) - 1) / sizeof(MessageLine));
}

/// The longest message.
inline constexpr std::uint32_t most_message_lines = 1 + payload_lines(longest_notice);
static_assert(sizeof(BlockRecord) <= longest_notice && sizeof(EndRecord) <= longest_notice &&
              sizeof(SignalHead) + longest_event <= longest_notice);

/// The sender's end: numbers messages, and leaves out what the receiver knows.
class MessageWriter {
 public:
  /// The lines of a message, until the next call. It counts as sent once `sent` is called; until then it may be written
  /// again, or another one.
  [[nodiscard]] std::span<const MessageLine> write(const Message& message);
  /// The same for a block.
  [[nodiscard]] std::span<const MessageLine> write_block(const BlockRecord& record, std::uint64_t offset,
                                                         std::uint32_t segment = 0);
  [[nodiscard]] std::span<const MessageLine> write_notice(const Notice& notice);
  /// The last one that was written has left.
  void sent() noexcept {
    ++header_.sequence;
    if (describes_) revisions_[header_.number] = revision_;
  }
  /// What follows goes to another receiver.
  void restart() noexcept;
  /// Where the next message will be written and what is known is kept: to be fetched into the cache early.
  [[nodiscard]] const void* place() const noexcept { return lines_.data(); }

 private:
  [[nodiscard]] std::span<const MessageLine> finish(const void* payload, std::size_t bytes);
  [[nodiscard]] std::span<const MessageLine> write_signal(const Signal& signal);
  MessageHeader header_;
  bool describes_ = false;
  std::uint32_t revision_ = 0;              ///< of the description in the last message
  std::vector<std::uint32_t> revisions_{};  ///< that the receiver has, by number; 0: none
  std::vector<MessageLine> lines_ = std::vector<MessageLine>(most_message_lines);
};

/// The receiver's end, for one sender.
class MessageReader {
 public:
  /// Reads one message. Throws Error(system) if it is not the next one of its sender, or none that there is; after
  /// std::bad_alloc it may be read again.
  void read(std::span<const MessageLine> lines, Message& message);
  [[nodiscard]] Notice read_notice(std::span<const MessageLine> lines);
  /// How many lines the message has that begins with this one. Throws Error(system) if that is impossible.
  [[nodiscard]] static std::uint32_t length(const MessageLine& first);

 private:
  [[nodiscard]] MessageHeader next_header(std::span<const MessageLine> lines) const;
  void decode(const MessageHeader& header, std::span<const MessageLine> payload, Message& message);
  void read_block(const MessageHeader& header, std::span<const MessageLine> payload, Message& message);
  std::uint32_t sequence_ = 0;
  std::vector<BlockRecord> records_;  ///< descriptions by number
};

}  // namespace sidestream
